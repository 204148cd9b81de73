#include "server/commands/families.h"

namespace tally::server {

std::span<const CommandFamily> ValueFamilies() {
  static const CommandFamily kFamilies[] = {
      {"generic", "keyspace", KeyCommands()},
      {"generic", "keyspace", ScanCommands()},
      {"generic", "keyspace", ExpiryCommands()},
      {"generic", "", SortCommands()},
      {"string", "string", StringCommands()},
      {"string", "string", CounterCommands()},
      {"bitmap", "bitmap", BitmapCommands()},
      {"hyperloglog", "hyperloglog", HyperLogLogCommands()},
      {"list", "list", ListCommands()},
      {"list", "list", ListPopCommands()},
      {"hash", "hash", HashCommands()},
      {"set", "set", SetCommands()},
      {"set", "set", SetAlgebraCommands()},
      {"sorted-set", "sortedset", ZSetCommands()},
      {"sorted-set", "sortedset", ZSetRangeCommands()},
      {"sorted-set", "sortedset", ZSetAlgebraCommands()},
      {"hits", "hits", HitsCommands(), true},
      {"limit", "limit", LimitCommands(), true},
      {"limit", "limit", PolicyCommands(), true},
      {"active", "active", ActiveCommands(), true},
      {"quota", "quota", QuotaCommands(), true},
  };
  return kFamilies;
}

}  // namespace tally::server
