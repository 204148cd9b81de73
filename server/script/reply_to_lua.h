// Converts the reply of a command to a value for a script.
#pragma once

#include <lua.hpp>

#include "server/resp/reply_reader.h"

namespace tally::server {

// Takes one whole reply from `reply` and pushes it.
// Null becomes false in RESP2 and nil in RESP3; a status becomes {ok = …}, an error {err = …}; a
// map, set, double, big number or verbatim string becomes a table with one field of that name. May
// raise an error for lack of memory or stack. O(bytes).
void PushReply(lua_State* lua, ReplyReader& reply);

}  // namespace tally::server
