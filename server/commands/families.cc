#include "server/commands/families.h"

#include <iterator>
#include <vector>

namespace tally::server {

std::span<const CommandFamily> ValueFamilies() {
  static const CommandFamily kFamilies[] = {
      {"generic", "keyspace", KeyCommands()},
      {"generic", "keyspace", ScanCommands()},
      {"generic", "keyspace", ExpiryCommands()},
      {"generic", "", SortCommands()},
      {"string", "string", StringCommands()},
      {"string", "string", CounterCommands()},
      {"string", "string", LcsCommands()},
      {"bitmap", "bitmap", BitmapCommands()},
      {"bitmap", "bitmap", BitFieldCommands()},
      {"hyperloglog", "hyperloglog", HyperLogLogCommands()},
      {"list", "list", ListCommands()},
      {"list", "list", ListPopCommands()},
      {"hash", "hash", HashCommands()},
      {"set", "set", SetCommands()},
      {"set", "set", SetAlgebraCommands()},
      {"sorted-set", "sortedset", ZSetCommands()},
      {"sorted-set", "sortedset", ZSetPopCommands()},
      {"sorted-set", "sortedset", ZSetRangeCommands()},
      {"sorted-set", "sortedset", ZSetAlgebraCommands()},
  };
  static const std::vector<CommandFamily> kAll = [] {
    std::vector<CommandFamily> all(std::begin(kFamilies), std::end(kFamilies));
    const std::span<const CommandFamily> native = NativeFamilies();
    all.insert(all.end(), native.begin(), native.end());
    all.push_back({"limit", "limit", DenialCommands(), true});
    return all;
  }();
  return kAll;
}

}  // namespace tally::server
