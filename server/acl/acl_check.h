// Decides whether a user may make a call, and what a call may read.
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
  std::string_view object;  // the denied command, key or channel; a view into the call
};

// Checks the command, its keys and its channels. The name of a policy is checked like a key. The
// call may have a wrong number of arguments. O(selectors * keys * patterns).
AclVerdict CheckCall(const AclUser& user, const CommandEntry& entry, Args args);

// The keys that a call may read in addition to those that its arguments name. They are given by the
// selectors that allow the whole call.
class ReadRights {
 public:
  // A null `user` may read everything. The user must outlive this object.
  ReadRights(const AclUser* user, const CommandEntry& entry, Args args);

  bool MayRead(std::string_view key) const;
  bool MayReadEveryKey() const;

 private:
  bool unrestricted_;
  std::vector<const AclSelector*> selectors_;
};

// How a denial is said. "$0" stands for the object of the verdict.
struct DenialWords {
  const char* kind;     // in ACL LOG
  const char* error;    // the error reply of a request
  const char* dry_run;  // the reply of ACL DRYRUN
  const char* script;   // the error of a call in a script
  const char* exec;     // why EXEC does not run a command
};
// Empty texts for kNone.
const DenialWords& WordsOf(AclDenial denial);

// Returns the error reply for a denied request, with the NOPERM prefix; empty if nothing is denied.
std::string DenialError(const AclVerdict& verdict);

}  // namespace tally::server
