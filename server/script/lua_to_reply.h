// Makes a reply of the value that a script returns.
#pragma once

#include <lua.hpp>

#include "server/resp/reply.h"

namespace tally::server {

// Appends the reply for the value at the top of the stack, and pops the value. Numbers lose their
// fraction, arrays end before their first nil, and false and nil become null. `script_protocol` is
// 3 after redis.setresp(3): booleans then stay booleans if the protocol of the client has them. May
// raise an error: for lack of memory, or if the reply would have more than 2^24 elements or more
// bytes than the output may. The output then ends with an incomplete reply. O(size).
void ReplyWithTop(lua_State* lua, ReplyBuilder& reply, int script_protocol);

}  // namespace tally::server
