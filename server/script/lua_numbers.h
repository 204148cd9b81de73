// tostring and tonumber for what scripts convert most: numbers, and texts of decimal digits. They
// answer as Lua's own, which go through printf and strtod (tonumber twice), in a fifth of the time.
#pragma once

#include <lua.hpp>

namespace tally::server {

// Each has the function that it stands before as its first upvalue, and leaves everything else to
// it.
int GuardToString(lua_State* lua);
int GuardToNumber(lua_State* lua);

}  // namespace tally::server
