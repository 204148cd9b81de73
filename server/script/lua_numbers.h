// Converts Lua's numbers to integers and to text. tostring and tonumber are replaced for what
// scripts convert most: numbers, and texts of decimal digits. The results are those of Lua's own
// functions, which use printf and strtod (tonumber calls it twice), in a fifth of the time.
#pragma once

#include <cstdint>
#include <lua.hpp>

namespace tally::server {

// The number without its fraction. A number that fits no integer, or NaN, becomes what the
// instructions of x86-64 make of it, because redis-server answers that.
int64_t TruncatedToInt64(lua_Number value);
uint64_t TruncatedToUint64(lua_Number value);

// The first upvalue of each guard is the function of Lua that it replaces. The guard calls it for
// all other arguments.
int GuardToString(lua_State* lua);
int GuardToNumber(lua_State* lua);

}  // namespace tally::server
