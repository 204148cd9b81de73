// Whether a user may make a call.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/acl/acl_user.h"
#include "server/command/command_table.h"

namespace tally::server {

enum class AclDenial : uint8_t { kNone, kCommand, kKey, kChannel };

struct AclVerdict {
  AclDenial denial = AclDenial::kNone;
  std::string_view object;  // the command, key or channel that is denied
};

// The call's arity is right. O(selectors * keys * patterns).
AclVerdict CheckCall(const AclUser& user, const CommandTable::Item& item, Args args);

// Whether a selector allows the call, and to read whatever key there is: for keys that the call's
// words do not name.
bool MayReadEveryKey(const AclUser& user, const CommandTable::Item& item, Args args);

// The error to reply to a denied request, with its prefix.
std::string DenialError(const AclVerdict& verdict);

}  // namespace tally::server
