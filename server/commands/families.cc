#include "server/commands/families.h"

namespace tally::server {

std::span<const CommandFamily> CommandFamilies(bool scripting) {
  static const CommandFamily kFamilies[] = {
      {"connection", "connection", ConnectionCommands()},
      {"connection", "connection", ClientCommands()},
      {"server", "", DatabaseCommands()},
      {"server", "", ServerAdminCommands()},
      {"server", "", ConfigCommands()},
      {"server", "connection", IntrospectionCommands()},
      {"server", "", ObservationCommands()},
      {"server", "", MemoryCommands()},
      {"server", "", DebugCommands()},
      {"server", "", AclCommands()},
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
      {"pubsub", "", PubSubCommands()},
      {"transactions", "transaction", TransactionCommands()},
      {"scripting", "scripting", ScriptingCommands()},
  };
  const std::span<const CommandFamily> all(kFamilies);
  return scripting ? all : all.first(all.size() - 1);
}

}  // namespace tally::server
