#include "server/config/config_text.h"

#include "core/bytes/str_cat.h"
#include "server/config/value_text.h"
#include "server/resp/split_args.h"

namespace tally::server {
namespace {

// Deep enough for any sane layout, and an end to files that include each other.
constexpr int kMaxIncludeDepth = 16;

absl::Status At(std::string_view place, std::string_view problem) {
  return absl::InvalidArgumentError(StrCat(place, ": ", problem));
}

// `words` is a directive's name and its value.
absl::Status ApplyWords(const DirectiveWords& words, std::string_view place, Config& config) {
  const Directive* const directive = FindDirective(words[0]);
  if (directive == nullptr) return At(place, StrCat("unknown directive '", words[0], "'"));
  absl::Status status = Assign(*directive, Words(words).subspan(1), config);
  if (status.ok()) return status;
  return At(place, StrCat("'", words[0], "' ", std::string(status.message())));
}

class FileParser {
 public:
  FileParser(const ReadFile& read_file, Config& config) : read_file_(read_file), config_(config) {}

  absl::Status Parse(std::string_view text, const std::string& file_name, int depth) {
    for (int line_number = 1; !text.empty(); ++line_number) {
      const size_t end = std::min(text.find('\n'), text.size());
      const std::string place = StrCat(file_name, ':', line_number);
      const absl::Status status = ParseLine(text.substr(0, end), place, depth);
      if (!status.ok()) return status;
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ParseLine(std::string_view line, const std::string& place, int depth) {
    const size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || line[start] == '#') return absl::OkStatus();
    const auto words = SplitArgs(line);
    if (!words) return At(place, "unbalanced quotes");
    if (ToLower(words->front()) == "include") return Include(*words, place, depth);
    return ApplyWords(*words, place, config_);
  }

  absl::Status Include(const DirectiveWords& words, const std::string& place, int depth) {
    if (words.size() != 2) return At(place, "'include' wrong number of arguments");
    if (depth == kMaxIncludeDepth) return At(place, "files include each other too deeply");
    const absl::StatusOr<std::string> text = read_file_(words[1]);
    if (!text.ok()) return At(place, std::string(text.status().message()));
    return Parse(*text, words[1], depth + 1);
  }

  const ReadFile& read_file_;
  Config& config_;
};

bool IsOption(std::string_view argument) { return argument.substr(0, 2) == "--"; }

}  // namespace

absl::Status ParseConfigText(std::string_view text, const std::string& file_name,
                             const ReadFile& read_file, Config& config) {
  return FileParser(read_file, config).Parse(text, file_name, 0);
}

absl::StatusOr<CommandLine> ParseCommandLine(Words arguments) {
  CommandLine line;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      line.action = CommandLine::Action::kHelp;
    } else if (argument == "--version" || argument == "-v") {
      line.action = CommandLine::Action::kVersion;
    } else if (argument == "--check-config") {
      line.action = CommandLine::Action::kCheckConfig;
    } else if (IsOption(argument)) {
      DirectiveWords words{argument.substr(2)};
      while (i + 1 < arguments.size() && !IsOption(arguments[i + 1])) {
        words.push_back(arguments[++i]);
      }
      line.directives.push_back(std::move(words));
    } else if (!line.config_path && line.directives.empty()) {
      line.config_path = argument;
    } else {
      return At("command line", StrCat("unexpected argument '", argument, "'"));
    }
  }
  return line;
}

absl::Status ApplyDirectives(const std::vector<DirectiveWords>& directives, Config& config) {
  for (DirectiveWords words : directives) {
    const Directive* const directive = FindDirective(words[0]);
    if (words.size() == 1 && directive != nullptr && directive->Is(kRepeated)) words.push_back("");
    const absl::Status status = ApplyWords(words, "command line", config);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace tally::server
