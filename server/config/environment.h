// What the environment says, for containers: there a password is not written into a file of the
// image, nor on a command line that everybody can list.
#pragma once

#include <absl/status/status.h>

#include "server/config/config_text.h"

namespace tally::server {

// The password of the default user: TALLYD_PASSWORD, or the first line of the file that
// TALLYD_PASSWORD_FILE names. It comes after the configuration file's requirepass, and before the
// command line's. InvalidArgument if both are set, or there is no password in the file.
absl::Status AddEnvironment(CommandLine& line);

}  // namespace tally::server
