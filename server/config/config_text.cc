#include "server/config/config_text.h"

#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/config/text_file.h"
#include "server/config/value_text.h"
#include "server/resp/split_args.h"

namespace tally::server {
namespace {

// Deep enough for any sensible layout; stops files that include each other.
constexpr int kMaxIncludeDepth = 16;

std::string At(std::string_view place, std::string_view problem) {
  return StrCat(place, ": ", problem);
}

// Collects what is wrong and what has no effect.
class Applier {
 public:
  Applier(Config& config, std::vector<Ignored>* ignored) : config_(config), ignored_(ignored) {}

  // `words` is a directive's name and its value.
  void Apply(const DirectiveWords& words, const std::string& place) {
    const Directive* const directive = FindDirective(words[0]);
    if (directive == nullptr) return Complain(place, StrCat("unknown directive '", words[0], "'"));
    const absl::Status status = Assign(*directive, ConfigWords(words).subspan(1), config_);
    if (!status.ok()) {
      Complain(place, StrCat("'", words[0], "' ", std::string(status.message())));
    } else if (!directive->no_effect.empty() && ignored_ != nullptr) {
      ignored_->push_back({directive, place});
    }
  }

  void Complain(std::string_view place, std::string_view problem) {
    StrAppend(errors_, errors_.empty() ? "" : "\n", At(place, problem));
  }

  absl::Status status() const {
    return errors_.empty() ? absl::OkStatus() : absl::InvalidArgumentError(errors_);
  }

 private:
  Config& config_;
  std::vector<Ignored>* const ignored_;
  std::string errors_;
};

class FileParser {
 public:
  FileParser(const ReadFile& read_file, Applier& applier)
      : read_file_(read_file), applier_(applier) {}

  void Parse(std::string_view text, const std::string& file_name, int depth) {
    for (int line_number = 1; !text.empty(); ++line_number) {
      const size_t end = std::min(text.find('\n'), text.size());
      ParseLine(text.substr(0, end), StrCat(file_name, ':', line_number), depth);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }

 private:
  void ParseLine(std::string_view line, const std::string& place, int depth) {
    const size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos || line[start] == '#') return;
    const auto words = SplitArgs(line);
    if (!words) return applier_.Complain(place, "unbalanced quotes");
    if (ToLower(words->front()) == "include") return Include(*words, place, depth);
    applier_.Apply(*words, place);
  }

  void Include(const DirectiveWords& words, const std::string& place, int depth) {
    if (words.size() != 2) return applier_.Complain(place, "'include' wrong number of arguments");
    // Complains only once: files that include each other would give one complaint for each path
    // through them.
    if (too_deep_) return;
    too_deep_ = depth == kMaxIncludeDepth;
    if (too_deep_) return applier_.Complain(place, "files include each other too deeply");
    if (words[1].find_first_of("*?[") == std::string::npos) {
      return IncludeFile(words[1], place, depth);
    }
    for (const std::string& path : MatchingFiles(words[1])) IncludeFile(path, place, depth);
  }

  void IncludeFile(const std::string& path, const std::string& place, int depth) {
    const absl::StatusOr<std::string> text = read_file_(path);
    if (!text.ok()) return applier_.Complain(place, std::string(text.status().message()));
    Parse(*text, path, depth + 1);
  }

  const ReadFile& read_file_;
  Applier& applier_;
  bool too_deep_ = false;
};

bool IsOption(std::string_view argument) { return argument.substr(0, 2) == "--"; }

}  // namespace

absl::Status ParseConfigText(std::string_view text, const std::string& file_name,
                             const ReadFile& read_file, Config& config,
                             std::vector<Ignored>* ignored) {
  Applier applier(config, ignored);
  FileParser(read_file, applier).Parse(text, file_name, 0);
  return applier.status();
}

absl::StatusOr<CommandLine> ParseCommandLine(ConfigWords arguments) {
  CommandLine line;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help" || argument == "-h") {
      line.action = CommandLine::Action::kHelp;
    } else if (argument == "--version" || argument == "-v") {
      line.action = CommandLine::Action::kVersion;
    } else if (argument == "--check-config") {
      line.action = CommandLine::Action::kCheckConfig;
    } else if (argument == "--ping") {
      line.action = CommandLine::Action::kPing;
    } else if (argument == "--skip-unknown") {
      line.skip_unknown = true;
    } else if (argument == "--drop-field-ttl") {
      line.drop_field_ttl = true;
    } else if (argument == "--import") {
      if (i + 1 == arguments.size()) {
        return absl::InvalidArgumentError(At("command line", "--import takes a file or a folder"));
      }
      line.action = CommandLine::Action::kImport;
      line.import_path = arguments[++i];
    } else if (argument == "--export") {
      if (i + 1 == arguments.size()) {
        return absl::InvalidArgumentError(At("command line", "--export takes a file"));
      }
      line.action = CommandLine::Action::kExport;
      line.export_path = arguments[++i];
    } else if (IsOption(argument)) {
      DirectiveWords words{argument.substr(2)};
      while (i + 1 < arguments.size() && !IsOption(arguments[i + 1])) {
        words.push_back(arguments[++i]);
      }
      line.directives.push_back(std::move(words));
    } else if (!line.config_path && line.directives.empty()) {
      line.config_path = argument;
    } else {
      return absl::InvalidArgumentError(
          At("command line", StrCat("unexpected argument '", argument, "'")));
    }
  }
  return line;
}

absl::Status ApplyDirectives(const std::vector<DirectiveWords>& directives, Config& config,
                             std::vector<Ignored>* ignored) {
  Applier applier(config, ignored);
  for (DirectiveWords words : directives) {
    const Directive* const directive = FindDirective(words[0]);
    if (words.size() == 1 && directive != nullptr && directive->Is(kRepeated)) words.push_back("");
    applier.Apply(words, "command line");
  }
  return applier.status();
}

std::vector<std::string> IgnoredWarnings(std::span<const Ignored> ignored) {
  std::vector<std::pair<std::string_view, std::string>> by_reason;
  std::vector<const Directive*> named;
  for (const auto& [directive, place] : ignored) {
    if (std::find(named.begin(), named.end(), directive) != named.end()) continue;
    named.push_back(directive);
    const std::string_view reason = directive->no_effect;
    auto found = std::find_if(by_reason.begin(), by_reason.end(),
                              [reason](const auto& entry) { return entry.first == reason; });
    if (found == by_reason.end()) found = by_reason.insert(found, {reason, ""});
    std::string& names = found->second;
    StrAppend(names, names.empty() ? "" : ", ", directive->name, " (", place, ")");
  }
  std::vector<std::string> warnings;
  for (const auto& [reason, names] : by_reason) {
    warnings.push_back(StrCat("Without effect here: ", names, ". The reason: ", reason, "."));
  }
  return warnings;
}

}  // namespace tally::server
