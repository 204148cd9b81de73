#include "server/script/reply_to_lua.h"

#include <charconv>

#include "server/script/script_error.h"

namespace tally::server {
namespace {

void PushText(lua_State* lua, std::string_view text) {
  lua_pushlstring(lua, text.data(), text.size());
}

// Replaces the value at the top of the stack by a table that has it as its only field.
void Wrap(lua_State* lua, const char* name) {
  lua_createtable(lua, 0, 1);
  lua_insert(lua, -2);
  lua_setfield(lua, -2, name);
}

void PushArray(lua_State* lua, ReplyReader& reply, int64_t size) {
  lua_createtable(lua, static_cast<int>(size), 0);
  for (int i = 1; i <= size; ++i) {
    PushReply(lua, reply);
    lua_rawseti(lua, -2, i);
  }
}

void PushMap(lua_State* lua, ReplyReader& reply, int64_t values) {
  lua_createtable(lua, 0, static_cast<int>(values / 2));
  for (int64_t i = 0; i < values; i += 2) {
    PushReply(lua, reply);
    PushReply(lua, reply);
    lua_rawset(lua, -3);
  }
  Wrap(lua, "map");
}

void PushSet(lua_State* lua, ReplyReader& reply, int64_t size) {
  lua_createtable(lua, 0, static_cast<int>(size));
  for (int64_t i = 0; i < size; ++i) {
    PushReply(lua, reply);
    lua_pushboolean(lua, 1);
    lua_rawset(lua, -3);
  }
  Wrap(lua, "set");
}

void PushVerbatim(lua_State* lua, std::string_view text) {
  lua_createtable(lua, 0, 2);
  PushText(lua, text.substr(4));
  lua_setfield(lua, -2, "string");
  PushText(lua, text.substr(0, 3));
  lua_setfield(lua, -2, "format");
  Wrap(lua, "verbatim_string");
}

// Pushes the error of a command. Existing scripts look at both fields.
void PushCommandError(lua_State* lua, std::string_view text) {
  PushCodedError(lua, text);
  lua_pushboolean(lua, 1);
  lua_setfield(lua, -2, "ignore_error_stats_update");
}

double Double(std::string_view digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

void PushReply(lua_State* lua, ReplyReader& reply) {
  luaL_checkstack(lua, 6, "reached lua stack limit");
  const ReplyPart part = reply.Next();
  switch (part.type) {
    case ReplyType::kBulk:
      return PushText(lua, part.text);
    case ReplyType::kInteger:
      return lua_pushnumber(lua, static_cast<lua_Number>(part.number));
    case ReplyType::kStatus:
      PushText(lua, part.text);
      return Wrap(lua, "ok");
    case ReplyType::kError:
      return PushCommandError(lua, part.text);
    case ReplyType::kArray:
    case ReplyType::kPush:
      return PushArray(lua, reply, part.number);
    case ReplyType::kMap:
      return PushMap(lua, reply, part.number);
    case ReplyType::kSet:
      return PushSet(lua, reply, part.number);
    case ReplyType::kNullBulk:
    case ReplyType::kNullArray:
      return lua_pushboolean(lua, 0);
    case ReplyType::kNull:
      return lua_pushnil(lua);
    case ReplyType::kBool:
      return lua_pushboolean(lua, part.text == "t");
    case ReplyType::kDouble:
      lua_pushnumber(lua, Double(part.text));
      return Wrap(lua, "double");
    case ReplyType::kBigNumber:
      PushText(lua, part.text);
      return Wrap(lua, "big_number");
    case ReplyType::kVerbatim:
      return PushVerbatim(lua, part.text);
  }
}

}  // namespace tally::server
