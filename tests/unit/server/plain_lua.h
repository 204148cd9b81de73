// Scripts beside Lua as it is, to compare what they answer.
#pragma once

#include <catch2/catch.hpp>
#include <lua.hpp>
#include <memory>
#include <string>

#include "server/command_harness.h"

namespace tally::server {

// Around code: what it gives, or its error, as one text.
inline constexpr char kShow[] = R"(
  local function show(...)
    local parts = {}
    for i = 1, select('#', ...) do parts[i] = type(select(i, ...)) .. ':' .. tostring(select(i, ...)) end
    return table.concat(parts, '|')
  end
  return show(pcall(function() )";
inline constexpr char kEnd[] = " end))";

class PlainLua {
 public:
  PlainLua() : lua_(luaL_newstate()) { luaL_openlibs(lua_.get()); }

  std::string Run(const std::string& code) const {
    const std::string whole = kShow + code + kEnd;
    REQUIRE(luaL_loadbuffer(lua_.get(), whole.data(), whole.size(), "@user_script") == 0);
    REQUIRE(lua_pcall(lua_.get(), 0, 1, 0) == 0);
    size_t size = 0;
    const char* text = lua_tolstring(lua_.get(), -1, &size);
    std::string result(text, size);
    lua_pop(lua_.get(), 1);
    return result;
  }

 private:
  struct CloseLua {
    void operator()(lua_State* lua) const { lua_close(lua); }
  };
  std::unique_ptr<lua_State, CloseLua> lua_;
};

// The same of a script.
inline std::string Scripted(CommandHarness& h, const std::string& code) {
  const std::string wire = h.Wire(*h.self, {"EVAL", kShow + code + kEnd, "0"});
  const size_t line = wire.find("\r\n");
  REQUIRE(wire.starts_with('$'));
  return wire.substr(line + 2, wire.size() - line - 4);
}

}  // namespace tally::server
