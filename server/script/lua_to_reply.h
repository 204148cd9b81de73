// What a script returns as a reply.
#pragma once

#include <lua.hpp>

#include "server/resp/reply.h"

namespace tally::server {

// Appends the reply for the value at the top of the stack and pops it. Numbers lose their fraction,
// arrays end before their first nil, false and nil are null. After redis.setresp(3),
// `script_protocol` is 3 and booleans stay booleans where the client's protocol has them. May raise
// for want of memory; what is in the output is then not a whole reply. O(size).
void ReplyWithTop(lua_State* lua, ReplyBuilder& reply, int script_protocol);

}  // namespace tally::server
