#include "server/commands/families.h"

namespace tally::server {

std::span<const CommandFamily> CommandFamilies() {
  static const CommandFamily kFamilies[] = {
      {"generic", "keyspace", KeyCommands()},
      {"generic", "keyspace", ExpiryCommands()},
      {"string", "string", StringCommands()},
      {"string", "string", CounterCommands()},
  };
  return kFamilies;
}

}  // namespace tally::server
