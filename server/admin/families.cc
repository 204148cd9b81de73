#include "server/admin/families.h"

#include <vector>

#include "server/commands/families.h"

namespace tally::server {
namespace {

std::vector<CommandFamily> AllFamilies() {
  std::vector<CommandFamily> all = {
      {"connection", "connection", ConnectionCommands()},
      {"connection", "connection", ClientCommands()},
      {"server", "", DatabaseCommands()},
      {"server", "", ServerAdminCommands()},
      {"server", "", StandaloneCommands()},
      {"cluster", "", ClusterCommands()},
      {"cluster", "connection", ClusterClientCommands()},
      {"server", "", ReplicationCommands()},
      {"generic", "connection", WaitCommands()},
      {"server", "", ConfigCommands()},
      {"server", "connection", IntrospectionCommands()},
      {"server", "", ObservationCommands()},
      {"server", "", HotKeyCommands(), true},
      {"server", "", MemoryCommands()},
      {"server", "", DebugCommands()},
      {"server", "", AclCommands()},
      {"generic", "keyspace", SerializationCommands()},
      {"generic", "keyspace", MigrationCommands()},
      {"server", "keyspace", ClusterSerializationCommands()},
  };
  const std::span<const CommandFamily> values = ValueFamilies();
  all.insert(all.end(), values.begin(), values.end());
  all.insert(all.end(), {
                            {"pubsub", "", PubSubCommands()},
                            {"transactions", "transaction", TransactionCommands()},
                            {"scripting", "scripting", ScriptingCommands()},
                        });
  return all;
}

}  // namespace

std::span<const CommandFamily> CommandFamilies(bool scripting) {
  static const std::vector<CommandFamily> kAll = AllFamilies();
  static const std::vector<CommandFamily> kWithoutScripting = [] {
    std::vector<CommandFamily> families = kAll;
    std::erase_if(families, [](const CommandFamily& one) { return one.group == "scripting"; });
    return families;
  }();
  return scripting ? kAll : kWithoutScripting;
}

}  // namespace tally::server
