// A command's reply as a script gets it.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace tally::server {

// Pushes the reply that `wire` begins with, one of ReplyBuilder's, and takes it off `wire`. Nulls
// of RESP2 become false, those of RESP3 nil; a status {ok = …}, an error {err = …}; a map, set,
// double, big number or verbatim string a table with one field of that name. May raise for want of
// memory or of stack. O(bytes).
void PushReply(lua_State* lua, std::string_view& wire);

}  // namespace tally::server
