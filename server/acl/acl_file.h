// Makes the users at the start; loads all users from the file that `aclfile` names, and saves them
// there.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "server/acl/acl_users.h"

namespace tally::server {

// Makes the users of the configuration: those of its `user` lines, or of `aclfile`. It is an error
// if requirepass is set and these users undo it: then nobody would need a password, or another one.
absl::Status LoadUsers(const Config& config, AclUsers& users);

// Replaces all users by those of the file. On an error nothing changes; the message of the error
// can be shown as it is.
absl::Status LoadAclFile(const std::string& path, AclUsers& users);

// Writes all users into the file.
absl::Status SaveAclFile(const std::string& path, AclUsers& users);

}  // namespace tally::server
