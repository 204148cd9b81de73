// The table `redis` of scripts: redis.call and its other functions.
#pragma once

#include <lua.hpp>

#include "server/script/script_engine.h"

namespace tally::server {

// Adds the table to the globals. Must run inside a protected call. The engine must outlive the
// state.
void OpenRedis(lua_State* lua, ScriptEngine& engine);

}  // namespace tally::server
