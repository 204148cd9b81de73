// The table `redis` of scripts: redis.call and what goes with it.
#pragma once

#include <lua.hpp>

#include "server/script/script_engine.h"

namespace tally::server {

// Adds it to the globals. Must run inside a protected call; the engine must outlive the state.
void OpenRedis(lua_State* lua, ScriptEngine& engine);

}  // namespace tally::server
