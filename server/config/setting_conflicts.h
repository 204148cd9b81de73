// Settings of which one undoes the other.
#pragma once

#include <string>
#include <vector>

#include "server/config/config.h"

namespace tally::server {

// A sentence for each pair of settings of which one has no effect, or a bad one, because of the
// other. The server starts with them, and says so in the log. (What would leave the server open
// although a password is set keeps it from starting: see LoadUsers.)
std::vector<std::string> SettingConflicts(const Config& config);

}  // namespace tally::server
