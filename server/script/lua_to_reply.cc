#include "server/script/lua_to_reply.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/script/lua_numbers.h"
#include "server/script/lua_stack.h"

namespace tally::server {
namespace {

// A table may hold itself, or the same table many times. So the reply for a small value can have
// no end, and no other client is served while it is made.
constexpr size_t kMaxElements = size_t{1} << 24;

struct Conversion {
  int protocol;  // the script's
  size_t elements_left = kMaxElements;
};

void Append(lua_State* lua, ReplyBuilder& reply, Conversion& script);

// Pushes the field of the table at the top if it has the type. Otherwise pushes nothing and returns
// false.
bool PushField(lua_State* lua, const char* name, int type) {
  lua_pushstring(lua, name);
  lua_rawget(lua, -2);
  if (lua_type(lua, -1) == type) return true;
  lua_pop(lua, 1);
  return false;
}

void ReplyDouble(ReplyBuilder& reply, double value) {
  if (!std::isnan(value)) return reply.Double(value);
  const std::string_view text = std::signbit(value) ? "-nan" : "nan";
  if (reply.protocol() == 2) return reply.Bulk(text);
  reply.Raw(",");
  reply.Raw(text);
  reply.Raw("\r\n");
}

void ReplyBool(ReplyBuilder& reply, bool value, const Conversion& script) {
  if (script.protocol == 3) return reply.Bool(value);
  value ? reply.Integer(1) : reply.Null();
}

void ReplyMap(lua_State* lua, ReplyBuilder& reply, Conversion& script) {
  const size_t mark = reply.BeginMap();
  size_t pairs = 0;
  lua_pushnil(lua);
  while (lua_next(lua, -2) != 0) {
    lua_pushvalue(lua, -2);
    Append(lua, reply, script);
    Append(lua, reply, script);
    ++pairs;
  }
  reply.EndMap(mark, pairs);
}

void ReplySet(lua_State* lua, ReplyBuilder& reply, Conversion& script) {
  const size_t mark = reply.BeginSet();
  size_t members = 0;
  lua_pushnil(lua);
  while (lua_next(lua, -2) != 0) {
    lua_pop(lua, 1);
    lua_pushvalue(lua, -1);
    Append(lua, reply, script);
    ++members;
  }
  reply.EndSet(mark, members);
}

void ReplyBigNumber(ReplyBuilder& reply, std::string_view digits) {
  std::string line(digits);
  std::replace_if(line.begin(), line.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
  if (reply.protocol() == 2) return reply.Bulk(line);
  reply.Raw("(");
  reply.Raw(line);
  reply.Raw("\r\n");
}

// Replies for a table {string = …, format = …} at the top of the stack. Returns false if it is not
// such a table.
bool ReplyVerbatim(lua_State* lua, ReplyBuilder& reply) {
  if (!PushField(lua, "format", LUA_TSTRING)) return false;
  lua_insert(lua, -2);
  if (!PushField(lua, "string", LUA_TSTRING)) {
    lua_remove(lua, -2);
    return false;
  }
  char format[3] = {' ', ' ', ' '};
  TextAt(lua, -3).copy(format, sizeof(format));
  reply.Verbatim({format, sizeof(format)}, TextAt(lua, -1));
  lua_pop(lua, 1);
  lua_remove(lua, -2);
  return true;
}

void ReplyArray(lua_State* lua, ReplyBuilder& reply, Conversion& script) {
  const size_t mark = reply.BeginArray();
  int elements = 0;
  while (true) {
    lua_rawgeti(lua, -1, elements + 1);
    if (lua_isnil(lua, -1)) break;
    Append(lua, reply, script);
    ++elements;
  }
  lua_pop(lua, 1);
  reply.EndArray(mark, static_cast<size_t>(elements));
}

// Returns false if the table at the top has only a few elements and all keys are numbers, as for
// most replies. A short walk costs less than looking for each name.
bool MayHaveNames(lua_State* lua) {
  constexpr int kFew = 8;
  lua_pushnil(lua);
  for (int i = 0; i < kFew; ++i) {
    if (lua_next(lua, -2) == 0) return false;
    lua_pop(lua, 1);
    if (lua_type(lua, -1) != LUA_TNUMBER) break;
  }
  lua_pop(lua, 1);
  return true;
}

// Replies for a table with one of the fields that name a type, and leaves the field at the top of
// the stack. Returns false if there is no such field.
bool ReplyNamed(lua_State* lua, ReplyBuilder& reply, Conversion& script) {
  if (PushField(lua, "err", LUA_TSTRING)) {
    reply.Error(LineAt(lua, -1));
  } else if (PushField(lua, "ok", LUA_TSTRING)) {
    reply.Status(LineAt(lua, -1));
  } else if (PushField(lua, "double", LUA_TNUMBER)) {
    ReplyDouble(reply, lua_tonumber(lua, -1));
  } else if (PushField(lua, "map", LUA_TTABLE)) {
    ReplyMap(lua, reply, script);
  } else if (PushField(lua, "set", LUA_TTABLE)) {
    ReplySet(lua, reply, script);
  } else if (PushField(lua, "big_number", LUA_TSTRING)) {
    ReplyBigNumber(reply, TextAt(lua, -1));
  } else if (PushField(lua, "verbatim_string", LUA_TTABLE)) {
    if (ReplyVerbatim(lua, reply)) return true;
    lua_pop(lua, 1);
    return false;
  } else {
    return false;
  }
  return true;
}

void Append(lua_State* lua, ReplyBuilder& reply, Conversion& script) {
  const bool is_too_large = script.elements_left == 0 || reply.output().overflowed();
  if (!is_too_large) --script.elements_left;
  // Without stack no error can be raised either: then it is raised further up.
  if (lua_checkstack(lua, 6) == 0) {
    if (!is_too_large) reply.Error("ERR reached lua stack limit");
    return lua_pop(lua, 1);
  }
  if (is_too_large) luaL_error(lua, "the reply is too large");
  switch (lua_type(lua, -1)) {
    case LUA_TSTRING:
      reply.Bulk(TextAt(lua, -1));
      break;
    case LUA_TBOOLEAN:
      ReplyBool(reply, lua_toboolean(lua, -1) != 0, script);
      break;
    case LUA_TNUMBER:
      reply.Integer(TruncatedToInt64(lua_tonumber(lua, -1)));
      break;
    case LUA_TTABLE:
      if (MayHaveNames(lua) && ReplyNamed(lua, reply, script)) {
        lua_pop(lua, 1);
      } else {
        ReplyArray(lua, reply, script);
      }
      break;
    default:
      reply.Null();
  }
  lua_pop(lua, 1);
}

}  // namespace

void ReplyWithTop(lua_State* lua, ReplyBuilder& reply, int script_protocol) {
  Conversion script{.protocol = script_protocol};
  Append(lua, reply, script);
}

}  // namespace tally::server
