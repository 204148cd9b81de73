// The first line of a script may say how it is to be run: "#!lua flags=no-writes,allow-oom".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tally::server {

struct ScriptSource {
  // Lua code; its line numbers are those of the whole text.
  std::string_view code;
  bool declares_flags = false;  // there is such a first line
  bool no_writes = false;
  bool allow_oom = false;
  std::string error;  // empty, or why the first line is not understood
};

// The result refers to `body`.
ScriptSource ParseScript(std::string_view body);

}  // namespace tally::server
