#include "server/script/script_error.h"

namespace tally::server {
namespace {

void PushTable(lua_State* lua, std::string_view text, bool may_have_code) {
  const size_t blank = text.find(' ');
  const bool has_code = may_have_code && blank != std::string_view::npos;
  lua_createtable(lua, 0, 2);
  lua_pushliteral(lua, "err");
  if (has_code && blank + 1 == text.size()) text.remove_suffix(1);
  if (has_code) {
    lua_pushlstring(lua, text.data(), text.size());
  } else {
    lua_pushliteral(lua, "ERR ");
    lua_pushlstring(lua, text.data(), text.size());
    lua_concat(lua, 2);
  }
  lua_rawset(lua, -3);
}

}  // namespace

void PushError(lua_State* lua, std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == '\n')) text.remove_suffix(1);
  const bool may_have_code = text.starts_with('-');
  PushTable(lua, text.substr(may_have_code ? 1 : 0), may_have_code);
}

void PushCodedError(lua_State* lua, std::string_view text) { PushTable(lua, text, true); }

int RaiseError(lua_State* lua, std::string_view text) {
  PushError(lua, text);
  return lua_error(lua);
}

int AddErrorPlace(lua_State* lua) {
  lua_settop(lua, 1);
  if (!lua_istable(lua, 1)) {
    // Makes the same text as tostring, but without calling a metamethod.
    if (lua_isstring(lua, 1) == 0) {
      if (lua_isboolean(lua, 1)) {
        lua_pushstring(lua, lua_toboolean(lua, 1) != 0 ? "true" : "false");
      } else if (lua_isnil(lua, 1)) {
        lua_pushliteral(lua, "nil");
      } else {
        lua_pushfstring(lua, "%s: %p", luaL_typename(lua, 1), lua_topointer(lua, 1));
      }
      lua_replace(lua, 1);
    }
    lua_newtable(lua);
    lua_pushliteral(lua, "ERR ");
    lua_pushvalue(lua, 1);
    lua_concat(lua, 2);
    lua_setfield(lua, -2, "err");
    lua_replace(lua, 1);
  }
  lua_Debug place;
  if (lua_getstack(lua, 1, &place) == 0) return 1;
  lua_getinfo(lua, "S", &place);
  if (place.what[0] == 'C' && lua_getstack(lua, 2, &place) == 0) return 1;
  lua_getinfo(lua, "Sl", &place);
  lua_pushliteral(lua, "source");
  lua_pushstring(lua, place.source);
  lua_rawset(lua, 1);
  lua_pushliteral(lua, "line");
  lua_pushinteger(lua, place.currentline);
  lua_rawset(lua, 1);
  return 1;
}

}  // namespace tally::server
