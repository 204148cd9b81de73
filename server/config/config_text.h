// Reads configuration text: redis.conf's syntax, and the directives of the command line.
#pragma once

#include <absl/status/statusor.h>

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/config.h"
#include "server/config/directive.h"

namespace tally::server {

// Gives the content of an included file; the error's message says why it can't be read.
using ReadFile = std::function<absl::StatusOr<std::string>(const std::string& path)>;

// A directive that was given and has no effect, and where: "tallyd.conf:12".
struct Ignored {
  const Directive* directive;
  std::string place;
};

// Applies every line of `text` to `config`, in order; of a directive that is given twice the later
// one holds. A line is a comment (#), blank, `include path`, where the path may be a pattern
// that matches none or some files, or a directive with its words. The
// error has a line for everything that is wrong, with its place and reason: "tallyd.conf:12:
// 'maxclients' argument must be between 1 and …". What has no effect is added to `ignored`.
absl::Status ParseConfigText(std::string_view text, const std::string& file_name,
                             const ReadFile& read_file, Config& config,
                             std::vector<Ignored>* ignored = nullptr);

// One directive's words, its name first.
using DirectiveWords = std::vector<std::string>;

struct CommandLine {
  enum class Action { kServe, kCheckConfig, kPing, kHelp, kVersion };

  Action action = Action::kServe;
  std::optional<std::string> config_path;  // "-" is standard input
  std::vector<DirectiveWords> directives;
};

// The arguments after the program's name: [conf] [--directive value …]…, --check-config, --ping,
// --help, --version. A `--save` or `--user` without a value clears, as in Redis.
absl::StatusOr<CommandLine> ParseCommandLine(Words arguments);

// Applies the directives of the command line, which come after those of the file.
absl::Status ApplyDirectives(const std::vector<DirectiveWords>& directives, Config& config,
                             std::vector<Ignored>* ignored = nullptr);

// One line for each reason, which names all directives that it holds for.
std::vector<std::string> IgnoredWarnings(std::span<const Ignored> ignored);

}  // namespace tally::server
