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

// Returns the content of an included file; the message of an error says why it cannot be read.
using ReadFile = std::function<absl::StatusOr<std::string>(const std::string& path)>;

// A directive that was given but has no effect, and its place: "tallyd.conf:12".
struct Ignored {
  const Directive* directive;
  std::string place;
};

// Applies every line of `text` to `config`, in order. If a directive is given twice, the later
// value counts, but the values of a kRepeated one add up. A line is blank, a comment (#), a
// directive with its words, or `include path`, where the path may be a pattern that matches any
// number of files. The error has a line with place and reason for everything that is wrong:
// "tallyd.conf:12: 'maxclients' argument must be between 1 and …". Directives without effect are
// added to `ignored`, which may be null.
absl::Status ParseConfigText(std::string_view text, const std::string& file_name,
                             const ReadFile& read_file, Config& config,
                             std::vector<Ignored>* ignored = nullptr);

// The words of one directive, its name first.
using DirectiveWords = std::vector<std::string>;

struct CommandLine {
  enum class Action { kServe, kImport, kExport, kCheckConfig, kPing, kHelp, kVersion };

  Action action = Action::kServe;
  std::optional<std::string> config_path;  // "-" is standard input
  std::vector<DirectiveWords> directives;
  std::optional<std::string> password;  // requirepass of the environment: see environment.h
  // How data of Redis is taken over; see MoveOptions.
  std::optional<std::string> import_path;
  std::optional<std::string> export_path;
  bool skip_unknown = false;
  bool drop_field_ttl = false;
};

// Parses the arguments after the program's name: [conf] [--directive value …]…, --check-config,
// --ping, --import PATH, --export FILE, --skip-unknown, --drop-field-ttl, --help, --version.
absl::StatusOr<CommandLine> ParseCommandLine(ConfigWords arguments);

// Applies the directives of the command line, which come after those of the file. `--save`,
// `--user` or another kRepeated directive without a value clears it, as in Redis.
absl::Status ApplyDirectives(const std::vector<DirectiveWords>& directives, Config& config,
                             std::vector<Ignored>* ignored = nullptr);

// Returns one line for each reason, which names all directives that it applies to.
std::vector<std::string> IgnoredWarnings(std::span<const Ignored> ignored);

}  // namespace tally::server
