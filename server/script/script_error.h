// Errors as scripts see them: a table with a field `err`, which begins with an error code.
#pragma once

#include <lua.hpp>
#include <string_view>

namespace tally::server {

// Pushes {err = …}. If `text` begins with '-' and has a blank, its first word is the error code;
// otherwise the code ERR is put before it. May raise an error for lack of memory.
void PushError(lua_State* lua, std::string_view text);
// The same for the text of an error reply, which has its code but no '-'.
void PushCodedError(lua_State* lua, std::string_view text);

// Raises the table of PushError as an error. Does not return; the int allows
// `return RaiseError(…)`.
int RaiseError(lua_State* lua, std::string_view text);

// The message handler for running a script. Makes a table of an error that is not a table, and adds
// to the table where in the script the error was raised (`source` and `line`).
int AddErrorPlace(lua_State* lua);

}  // namespace tally::server
