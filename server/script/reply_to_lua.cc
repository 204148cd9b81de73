#include "server/script/reply_to_lua.h"

#include <charconv>

#include "core/base/check.h"
#include "server/script/script_error.h"

namespace tally::server {
namespace {

std::string_view TakeLine(std::string_view& wire) {
  const size_t end = wire.find("\r\n");
  Check(end != std::string_view::npos, "a reply is whole");
  const std::string_view line = wire.substr(0, end);
  wire.remove_prefix(end + 2);
  return line;
}

int64_t Number(std::string_view digits) {
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::string_view TakeBytes(std::string_view& wire, int64_t size) {
  const std::string_view bytes = wire.substr(0, static_cast<size_t>(size));
  wire.remove_prefix(static_cast<size_t>(size) + 2);
  return bytes;
}

void PushText(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

// Replaces the value at the top of the stack by a table that has it as its only field.
void Wrap(lua_State* lua, const char* name) {
  lua_createtable(lua, 0, 1);
  lua_insert(lua, -2);
  lua_setfield(lua, -2, name);
}

void PushArray(lua_State* lua, std::string_view& wire, int64_t size) {
  if (size < 0) return lua_pushboolean(lua, 0);
  lua_createtable(lua, static_cast<int>(size), 0);
  for (int i = 1; i <= size; ++i) {
    PushReply(lua, wire);
    lua_rawseti(lua, -2, i);
  }
}

void PushMap(lua_State* lua, std::string_view& wire, int64_t size) {
  lua_createtable(lua, 0, static_cast<int>(size));
  for (int64_t i = 0; i < size; ++i) {
    PushReply(lua, wire);
    PushReply(lua, wire);
    lua_rawset(lua, -3);
  }
  Wrap(lua, "map");
}

void PushSet(lua_State* lua, std::string_view& wire, int64_t size) {
  lua_createtable(lua, 0, static_cast<int>(size));
  for (int64_t i = 0; i < size; ++i) {
    PushReply(lua, wire);
    lua_pushboolean(lua, 1);
    lua_rawset(lua, -3);
  }
  Wrap(lua, "set");
}

void PushBulk(lua_State* lua, std::string_view& wire, int64_t size) {
  if (size < 0) return lua_pushboolean(lua, 0);
  PushText(lua, TakeBytes(wire, size));
}

void PushVerbatim(lua_State* lua, std::string_view& wire, int64_t size) {
  const std::string_view text = TakeBytes(wire, size);
  lua_createtable(lua, 0, 2);
  PushText(lua, text.substr(4));
  lua_setfield(lua, -2, "string");
  PushText(lua, text.substr(0, 3));
  lua_setfield(lua, -2, "format");
  Wrap(lua, "verbatim_string");
}

// Pushes the error of a command. Existing scripts look at both fields.
void PushCommandError(lua_State* lua, std::string_view line_with_type) {
  PushError(lua, line_with_type);
  lua_pushboolean(lua, 1);
  lua_setfield(lua, -2, "ignore_error_stats_update");
}

double Double(std::string_view digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

void PushReply(lua_State* lua, std::string_view& wire) {
  luaL_checkstack(lua, 6, "reached lua stack limit");
  const std::string_view whole = TakeLine(wire);
  const std::string_view line = whole.substr(1);
  switch (whole.front()) {
    case '$':
      return PushBulk(lua, wire, Number(line));
    case ':':
      return lua_pushnumber(lua, static_cast<lua_Number>(Number(line)));
    case '+':
      PushText(lua, line);
      return Wrap(lua, "ok");
    case '-':
      return PushCommandError(lua, whole);
    case '*':
    case '>':
      return PushArray(lua, wire, Number(line));
    case '%':
      return PushMap(lua, wire, Number(line));
    case '~':
      return PushSet(lua, wire, Number(line));
    case '_':
      return lua_pushnil(lua);
    case '#':
      return lua_pushboolean(lua, line == "t");
    case ',':
      lua_pushnumber(lua, Double(line));
      return Wrap(lua, "double");
    case '(':
      PushText(lua, line);
      return Wrap(lua, "big_number");
    case '=':
      return PushVerbatim(lua, wire, Number(line));
    default:
      Check(false, "a reply has a known type");
  }
}

}  // namespace tally::server
