// What a script finds in its global table, and what it must not reach: files, processes, bytecode,
// and the tables that it shares with the scripts after it.
//
// Lua 5.1 has no read-only tables, so a script gets proxies: empty tables whose metatable reads
// from the real table and refuses writes. The functions that go round metatables (rawset,
// table.insert …) are replaced by ones that know proxies.
//
// Everything here raises Lua errors and must run inside a protected call.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace tally::server {

// Fills the state's globals and makes their proxy the environment of all code loaded from now on.
void OpenSandbox(lua_State* lua);

// Pushes the real table of globals: what is set there, scripts see.
void PushGlobals(lua_State* lua);
// Pushes the proxy, the environment that each script runs in.
void PushEnvironment(lua_State* lua);

// Replaces the table at the top of the stack by a proxy.
void ProtectTop(lua_State* lua);
// Pushes the table behind the proxy at `index`; pushes nothing and gives false when that is none.
bool PushProtected(lua_State* lua, int index);

// Replace functions that Lua has by those that know proxies, limits and the watch. The table of the
// library is at the top of the stack.
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
