// Reads configuration text: redis.conf's syntax, and the directives of the command line.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/config.h"
#include "server/config/directive.h"

namespace tally::server {

// Gives the content of an included file; the error's message says why it can't be read.
using ReadFile = std::function<absl::StatusOr<std::string>(const std::string& path)>;

// Applies every line of `text` to `config`, in order; of a directive that is given twice the later
// one holds. A line is a comment (#), blank, `include path`, or a directive with its words. An
// error names its place and reason: "tallyd.conf:12: 'maxclients' argument must be between 1 and
// …".
absl::Status ParseConfigText(std::string_view text, const std::string& file_name,
                             const ReadFile& read_file, Config& config);

// One directive's words, its name first.
using DirectiveWords = std::vector<std::string>;

struct CommandLine {
  enum class Action { kServe, kCheckConfig, kHelp, kVersion };

  Action action = Action::kServe;
  std::optional<std::string> config_path;  // "-" is standard input
  std::vector<DirectiveWords> directives;
};

// The arguments behind the program's name: [conf] [--directive value …]…, --check-config, --help,
// --version. A `--save` or `--user` without a value clears, as in Redis.
absl::StatusOr<CommandLine> ParseCommandLine(Words arguments);

// Applies the directives of the command line, which come after those of the file.
absl::Status ApplyDirectives(const std::vector<DirectiveWords>& directives, Config& config);

}  // namespace tally::server
