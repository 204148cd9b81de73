// Whether a call has the keys that its command's row says.
#pragma once

#include "server/command/command.h"

namespace tally::server {

// For Redis a range with two uses is two ranges, and the second one needs a key too.
bool LacksKeys(const KeyRange& range, Args args);

}  // namespace tally::server
