// Settings from environment variables, for containers. There a password should not be in a file of
// the image, nor on a command line that everybody can list.
#pragma once

#include <absl/status/status.h>

#include "server/config/config_text.h"

namespace tally::server {

// Adds the password of the default user to `line`: TALLYD_PASSWORD, or the first line of the file
// that TALLYD_PASSWORD_FILE names. InvalidArgument if both variables are set, if the password is
// empty, or if the command line has requirepass with another one. LoadConfig refuses another one in
// the configuration file.
absl::Status AddEnvironment(CommandLine& line);

}  // namespace tally::server
