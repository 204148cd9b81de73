#include "server/script/script_source.h"

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "core/words/word.h"

namespace tally::server {
namespace {

void ReadFlags(std::string_view flags, ScriptSource& source) {
  constexpr std::string_view kWithoutEffect[] = {"allow-stale", "no-cluster",
                                                 "allow-cross-slot-keys"};
  while (!flags.empty() && source.error.empty()) {
    const std::string_view flag = TakeUntil(flags, ',');
    if (flag == "no-writes") {
      source.no_writes = true;
    } else if (flag == "allow-oom") {
      source.allow_oom = true;
    } else if (std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), flag) ==
               std::end(kWithoutEffect)) {
      source.error = StrCat("Unexpected flag in script shebang: ", flag);
    }
  }
}

}  // namespace

ScriptSource ParseScript(std::string_view body) {
  ScriptSource source;
  source.code = body;
  if (!body.starts_with("#!")) return source;
  source.declares_flags = true;
  const size_t end = body.find('\n');
  if (end == std::string_view::npos) {
    source.error = "Invalid script shebang";
    return source;
  }
  source.code = body.substr(end);
  std::string_view line = body.substr(0, end);
  const std::string_view engine = TakeUntil(line, ' ');
  if (engine != "#!lua") {
    source.error = StrCat("Unexpected engine in script shebang: ", engine);
    return source;
  }
  while (!line.empty() && source.error.empty()) {
    std::string_view option = TakeUntil(line, ' ');
    if (option.empty()) continue;
    if (option.starts_with("flags=")) {
      ReadFlags(option.substr(6), source);
    } else {
      source.error = StrCat("Unknown lua shebang option: ", option);
    }
  }
  return source;
}

}  // namespace tally::server
