// The users of aclfile.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "server/acl/acl_users.h"

namespace tally::server {

// Puts the users of the file in the place of all there are. On an error, whose message is ready to
// be shown, nothing has changed.
absl::Status LoadAclFile(const std::string& path, AclUsers& users);

// Writes all users into the file.
absl::Status SaveAclFile(const std::string& path, AclUsers& users);

}  // namespace tally::server
