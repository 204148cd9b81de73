// Keys whose number is given by an argument: "numkeys key [key …]".
#pragma once

#include <cstddef>
#include <vector>

#include "server/command/command.h"

namespace tally::server {

// Appends the keys that follow the count at `index`. Returns false if the count is below 1 or
// larger than the number of arguments after it. The count is read with atoi, as Redis does for
// COMMAND GETKEYS and for permissions: "+1", "01" and "1x" are 1. The command itself accepts only
// integers.
bool FindCountedKeys(Args args, size_t index, std::vector<KeyReference>& keys);
// The same with the count as the first argument.
bool FindFirstCountedKeys(Args args, std::vector<KeyReference>& keys);

}  // namespace tally::server
