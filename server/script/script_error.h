// Errors as scripts see them: a table whose `err` begins with an error code.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace tally::server {

// Pushes {err = …}. `text` is an error's words: with '-' before them the first word is the code,
// if more than one follows, and otherwise it is ERR. May raise for want of memory.
void PushError(lua_State* lua, std::string_view text);

// Raises PushError's table. Does not return; the int is for `return RaiseError(…)`.
int RaiseError(lua_State* lua, std::string_view text);

// The message handler of a script's call: adds to the error where in the script it was raised
// (`source` and `line`), and makes a table of an error that is none.
int AddErrorPlace(lua_State* lua);

}  // namespace tally::server
