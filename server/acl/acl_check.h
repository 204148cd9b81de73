// Whether a user may make a call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/acl_user.h"
#include "server/command/command_table.h"

namespace tally::server {

enum class AclDenial : uint8_t { kNone, kCommand, kKey, kChannel };

struct AclVerdict {
  AclDenial denial = AclDenial::kNone;
  std::string_view object;  // the command, key or channel that is denied
};

// A policy's name is checked as a key is. The call's arity may be wrong. O(selectors * keys *
// patterns).
AclVerdict CheckCall(const AclUser& user, const CommandTable::Item& item, Args args);

// What a call may read beyond the keys that its words name: what the selectors that allow the call
// as a whole let it read.
class ReadRights {
 public:
  // Null may read everything. The user outlives the rights.
  ReadRights(const AclUser* user, const CommandTable::Item& item, Args args);

  bool MayRead(std::string_view key) const;
  bool MayReadEveryKey() const;

 private:
  bool unrestricted_;
  std::vector<const AclSelector*> selectors_;
};

// The error to reply to a denied request, with its prefix.
std::string DenialError(const AclVerdict& verdict);

}  // namespace tally::server
