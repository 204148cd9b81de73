// The first half of cmsgpack: Lua values to MessagePack.
#pragma once

#include "server/script/lua_sandbox.h"

namespace tally::server {

// cmsgpack.pack: pushes a string with all arguments, which must be at least one. A table whose keys
// are 1 to n is an array. Functions, and tables that are nested deeper than 16, become nil.
// O(bytes).
int PackMessage(lua_State* lua);

}  // namespace tally::server
