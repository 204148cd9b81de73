// What several files do with the values on Lua's stack.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace tally::server {

// The text of the string or number at `index`, empty for any other value. Valid as long as the
// value is on the stack.
inline std::string_view TextAt(lua_State* lua, int index) {
  size_t size = 0;
  const char* text = lua_tolstring(lua, index, &size);
  return text != nullptr ? std::string_view(text, size) : std::string_view();
}

// The same up to the first NUL, where the line of a status or an error ends in Redis.
inline std::string_view LineAt(lua_State* lua, int index) {
  const std::string_view text = TextAt(lua, index);
  return text.substr(0, text.find('\0'));
}

// Calls the function that a guard replaces, which is the first upvalue of the guard. It runs in the
// frame of the guard, so its error messages stay the same. It must have no upvalues itself.
inline int CallGuarded(lua_State* lua) { return lua_tocfunction(lua, lua_upvalueindex(1))(lua); }

}  // namespace tally::server
