// Keys that an argument counts: "numkeys key [key …]".
#pragma once

#include <cstddef>
#include <vector>

#include "server/command/command.h"

namespace tally::server {

// Appends the keys that follow the count at `index`. False if there are not as many, or none is
// asked for. The count is read as Redis reads it for COMMAND GETKEYS and for permissions, by atoi:
// "+1", "01" and "1x" are 1. Whoever runs the command takes integers only.
bool FindCountedKeys(Args args, size_t index, std::vector<KeyReference>& keys);
// The count is the first argument.
bool FindFirstCountedKeys(Args args, std::vector<KeyReference>& keys);

}  // namespace tally::server
