// Lua's numbers as integers and as text. tostring and tonumber are for what scripts convert most:
// numbers, and texts of decimal digits. They answer as Lua's own, which go through printf and
// strtod (tonumber twice), in a fifth of the time.
#pragma once

#include <cstdint>
#include <lua.hpp>

namespace tally::server {

// The number without its fraction. What fits no integer, or is none, becomes what the instructions
// of x86-64 make of it, since that is what redis-server answers.
int64_t TruncatedToInt64(lua_Number value);
uint64_t TruncatedToUint64(lua_Number value);

// Each has the function that it protects as its first upvalue, and leaves everything else to
// it.
int GuardToString(lua_State* lua);
int GuardToNumber(lua_State* lua);

}  // namespace tally::server
