#include "server/script/lua_sandbox.h"

extern "C" {
#include <lua5.1/lua-bitop.h>
#include <lua5.1/lua-cjson.h>
}

namespace tally::server {
namespace {

// The addresses of these are registry and metatable keys that no script can make.
constexpr char kProtectedKey = 0;
constexpr char kGlobalsKey = 0;
constexpr char kEnvironmentKey = 0;

void PushKey(lua_State* lua, const char& key) {
  lua_pushlightuserdata(lua, const_cast<char*>(&key));
}

void Store(lua_State* lua, const char& key) {  // the value at the top, which stays there
  PushKey(lua, key);
  lua_pushvalue(lua, -2);
  lua_rawset(lua, LUA_REGISTRYINDEX);
}

int RefuseWrite(lua_State* lua) { return luaL_error(lua, "Attempt to modify a readonly table"); }

// A script may also call it, with anything; the texts are those of Redis.
int RefuseMissing(lua_State* lua) {
  if (lua_gettop(lua) != 2) {
    return luaL_error(lua, "Wrong number of arguments to luaProtectedTableError");
  }
  const char* name = lua_tostring(lua, 2);
  if (name == nullptr) {
    return luaL_error(lua, "Second argument to luaProtectedTableError must be a string or number");
  }
  return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'", name);
}

// The functions of the base library that scripts get, as redis-server 7.0 chooses them.
constexpr const char* kBaseFunctions[] = {
    "assert", "collectgarbage", "error",  "gcinfo",       "getmetatable", "ipairs",
    "load",   "loadstring",     "next",   "pairs",        "pcall",        "rawequal",
    "rawget", "rawset",         "select", "setmetatable", "tonumber",     "tostring",
    "type",   "unpack",         "xpcall", "_VERSION"};

// Opens a library, which puts its table into the real globals under its name. Leaves the table at
// the top of the stack.
void Open(lua_State* lua, const char* name, lua_CFunction open) {
  lua_pushcfunction(lua, open);
  lua_pushstring(lua, name);
  lua_call(lua, 1, 0);
  lua_getfield(lua, LUA_GLOBALSINDEX, name);
}

// Makes the library at the top of the stack, behind a proxy, the global `name`. Pops it.
void Publish(lua_State* lua, const char* name) {
  ProtectTop(lua);
  PushGlobals(lua);
  lua_insert(lua, -2);
  lua_setfield(lua, -2, name);
  lua_pop(lua, 1);
}

void OpenBase(lua_State* lua) {
  lua_pushcfunction(lua, luaopen_base);
  lua_pushstring(lua, "");
  lua_call(lua, 1, 0);
  PushGlobals(lua);
  for (const char* name : kBaseFunctions) {
    lua_getfield(lua, LUA_GLOBALSINDEX, name);
    lua_setfield(lua, -2, name);
  }
  GuardBase(lua);
  lua_pop(lua, 1);
  lua_getfield(lua, LUA_GLOBALSINDEX, LUA_COLIBNAME);
  GuardCoroutine(lua);
  Publish(lua, LUA_COLIBNAME);
}

// For the metatable below the top of the stack, getmetatable returns a proxy of a table like it,
// with the value at the top as `__index`. Pops the value.
void ShowCopy(lua_State* lua) {
  lua_newtable(lua);
  lua_insert(lua, -2);
  lua_setfield(lua, -2, "__index");
  ProtectTop(lua);
  lua_setfield(lua, -2, "__metatable");
}

void OpenString(lua_State* lua) {
  Open(lua, LUA_STRLIBNAME, luaopen_string);
  GuardString(lua);
  Publish(lua, LUA_STRLIBNAME);
  lua_pushliteral(lua, "");
  lua_getmetatable(lua, -1);
  PushGlobals(lua);
  lua_getfield(lua, -1, LUA_STRLIBNAME);
  lua_remove(lua, -2);
  ShowCopy(lua);
  lua_pop(lua, 2);
}

// Of the library `os`, scripts get only the processor time.
void OpenClock(lua_State* lua) {
  Open(lua, LUA_OSLIBNAME, luaopen_os);
  lua_newtable(lua);
  lua_getfield(lua, -2, "clock");
  lua_setfield(lua, -2, "clock");
  Publish(lua, LUA_OSLIBNAME);
  lua_pop(lua, 1);
}

void OpenCjson(lua_State* lua) {
  lua_pushcfunction(lua, luaopen_cjson);
  lua_call(lua, 0, 1);
  GuardCjson(lua);
  Publish(lua, "cjson");
}

void OpenOwn(lua_State* lua, const char* name, lua_CFunction open) {
  lua_pushcfunction(lua, open);
  lua_call(lua, 0, 1);
  Publish(lua, name);
}

// Closes the globals: an unknown name raises an error, and scripts get only a proxy of the table.
void CloseGlobals(lua_State* lua) {
  PushGlobals(lua);
  lua_newtable(lua);
  lua_pushcfunction(lua, RefuseMissing);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, RefuseMissing);
  ShowCopy(lua);
  lua_setmetatable(lua, -2);
  lua_pushvalue(lua, -1);
  ProtectTop(lua);
  Store(lua, kEnvironmentKey);
  lua_pushvalue(lua, -1);
  lua_pushliteral(lua, "_G");
  lua_insert(lua, -2);
  lua_rawset(lua, -4);
  lua_replace(lua, LUA_GLOBALSINDEX);
  lua_pop(lua, 1);
}

}  // namespace

void PushGlobals(lua_State* lua) {
  PushKey(lua, kGlobalsKey);
  lua_rawget(lua, LUA_REGISTRYINDEX);
}

void PushEnvironment(lua_State* lua) {
  PushKey(lua, kEnvironmentKey);
  lua_rawget(lua, LUA_REGISTRYINDEX);
}

void ProtectTop(lua_State* lua) {
  lua_newtable(lua);
  lua_createtable(lua, 0, 3);
  lua_pushvalue(lua, -3);
  lua_setfield(lua, -2, "__index");
  lua_pushcfunction(lua, RefuseWrite);
  lua_setfield(lua, -2, "__newindex");
  PushKey(lua, kProtectedKey);
  lua_pushvalue(lua, -4);
  lua_rawset(lua, -3);
  lua_setmetatable(lua, -2);
  lua_replace(lua, -2);
}

bool PushProtected(lua_State* lua, int index) {
  if (!lua_istable(lua, index) || lua_getmetatable(lua, index) == 0) return false;
  PushKey(lua, kProtectedKey);
  lua_rawget(lua, -2);
  lua_remove(lua, -2);
  if (lua_istable(lua, -1)) return true;
  lua_pop(lua, 1);
  return false;
}

void OpenSandbox(lua_State* lua) {
  lua_newtable(lua);
  Store(lua, kGlobalsKey);
  lua_pop(lua, 1);
  OpenBase(lua);
  OpenString(lua);
  Open(lua, LUA_TABLIBNAME, luaopen_table);
  GuardTable(lua);
  Publish(lua, LUA_TABLIBNAME);
  Open(lua, LUA_MATHLIBNAME, luaopen_math);
  GuardMath(lua);
  Publish(lua, LUA_MATHLIBNAME);
  OpenClock(lua);
  Open(lua, "bit", luaopen_bit);
  GuardBit(lua);
  Publish(lua, "bit");
  OpenCjson(lua);
  OpenOwn(lua, "struct", OpenStruct);
  OpenOwn(lua, "cmsgpack", OpenCmsgpack);
  CloseGlobals(lua);
}

}  // namespace tally::server
