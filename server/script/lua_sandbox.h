// The global table of scripts. It keeps scripts away from files, processes and bytecode, and from
// changing the tables that they share with later scripts.
//
// Lua 5.1 has no read-only tables, so a script gets proxies: empty tables whose metatable reads
// from the real table and refuses writes. Functions that bypass metatables (rawset, table.insert …)
// are replaced by functions that know proxies.
//
// Everything here raises Lua errors and must run inside a protected call.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace tally::server {

// Fills the globals of the state, and makes their proxy the environment of all code that is loaded
// from now on.
void OpenSandbox(lua_State* lua);

// Pushes the real table of globals. Scripts see what is set in it.
void PushGlobals(lua_State* lua);
// Pushes the proxy of the globals, which is the environment of each script.
void PushEnvironment(lua_State* lua);

// Replaces the table at the top of the stack by a proxy.
void ProtectTop(lua_State* lua);
// Pushes the real table of the proxy at `index`. If there is no proxy, pushes nothing and returns
// false.
bool PushProtected(lua_State* lua, int index);

// These replace functions of a Lua library by functions that know proxies, limits and the watch.
// The table of the library must be at the top of the stack.
void GuardBase(lua_State* lua);
void GuardCoroutine(lua_State* lua);
void GuardString(lua_State* lua);
void GuardTable(lua_State* lua);
void GuardMath(lua_State* lua);
void GuardBit(lua_State* lua);
void GuardCjson(lua_State* lua);

// As luaL_loadbuffer, but bytecode is a syntax error.
int LoadText(lua_State* lua, std::string_view text, const char* name);

int OpenStruct(lua_State* lua);
int OpenCmsgpack(lua_State* lua);

}  // namespace tally::server
