#include "server/commands/families.h"

namespace tally::server {

std::span<const CommandFamily> NativeFamilies() {
  static const CommandFamily kFamilies[] = {
      {"hits", "hits", HitsCommands(), true},          {"limit", "limit", LimitCommands(), true},
      {"limit", "limit", ReservationCommands(), true}, {"limit", "limit", PolicyCommands(), true},
      {"active", "active", ActiveCommands(), true},    {"quota", "quota", QuotaCommands(), true},
  };
  return kFamilies;
}

}  // namespace tally::server
