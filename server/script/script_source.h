// Parses the first line of a script, which may say how the script is to be run: "#!lua
// flags=no-writes,allow-oom".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tally::server {

struct ScriptSource {
  // The Lua code. Its line numbers are those of the whole text.
  std::string_view code;
  bool declares_flags = false;  // the script has such a first line
  bool no_writes = false;
  bool allow_oom = false;
  std::string error;  // why the first line is wrong; empty if it is right
};

// The result refers to `body`.
ScriptSource ParseScript(std::string_view body);

}  // namespace tally::server
