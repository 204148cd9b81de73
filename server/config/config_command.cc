#include "server/config/config_command.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/glob.h"
#include "core/bytes/str_cat.h"
#include "server/config/value_text.h"

namespace tally::server {
namespace {

using NamedValues = std::vector<std::pair<std::string, std::string>>;

bool HasWildcard(std::string_view pattern) {
  return pattern.find_first_of("*?[") != std::string_view::npos;
}

void AddOnce(std::string_view name, const Directive& directive, const Config& config,
             NamedValues& found) {
  const auto same = [name](const auto& row) { return row.first == name; };
  if (std::any_of(found.begin(), found.end(), same)) return;
  found.emplace_back(name, FormatValue(directive, config));
}

absl::Status Failure(std::string_view name, std::string_view reason) {
  return absl::InvalidArgumentError(ConfigSetFailure(name, reason));
}

// Returns the directives that the pairs name; an error if one of them may not be set.
absl::StatusOr<std::vector<const Directive*>> Resolve(std::span<const std::string_view> pairs) {
  std::vector<const Directive*> directives;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const Directive* const directive = FindDirective(pairs[i]);
    if (directive == nullptr) {
      return absl::InvalidArgumentError(
          StrCat("Unknown option or number of arguments for CONFIG SET - '", pairs[i], "'"));
    }
    if (directive->Is(kImmutable)) return Failure(pairs[i], "can't set immutable config");
    if (std::find(directives.begin(), directives.end(), directive) != directives.end()) {
      return Failure(pairs[i], "duplicate parameter");
    }
    directives.push_back(directive);
  }
  return directives;
}

absl::Status Replace(const Directive& directive, std::string_view value, Config& config) {
  if (!IsMultiWord(directive)) {
    const std::string word(value);
    return Assign(directive, {&word, 1}, config);
  }
  if (directive.Is(kRepeated)) {
    const std::string nothing;
    Check(Assign(directive, {&nothing, 1}, config).ok(), "a repeated directive can be cleared");
  }
  // All words of the value arrive as one argument.
  std::vector<std::string> words = SplitAtSpaces(value);
  if (words.empty()) words.emplace_back();
  return Assign(directive, words, config);
}

}  // namespace

NamedValues ConfigGet(const Config& config, std::span<const std::string_view> patterns) {
  NamedValues found;
  for (const std::string_view pattern : patterns) {
    if (!HasWildcard(pattern)) {
      const Directive* const directive = FindDirective(pattern);
      if (directive != nullptr) AddOnce(pattern, *directive, config, found);
      continue;
    }
    for (const Directive& directive : Directives()) {
      if (directive.Is(kHidden)) continue;
      for (const std::string_view name : {directive.name, directive.alias}) {
        if (name.empty() || !GlobMatch(pattern, name, GlobCase::kInsensitive)) continue;
        AddOnce(name, directive, config, found);
      }
    }
  }
  return found;
}

absl::StatusOr<ConfigChange> ConfigSet(const Config& current,
                                       std::span<const std::string_view> pairs) {
  Check(pairs.size() % 2 == 0, "CONFIG SET takes pairs");
  absl::StatusOr<std::vector<const Directive*>> directives = Resolve(pairs);
  if (!directives.ok()) return directives.status();
  ConfigChange change{current, *std::move(directives)};
  for (size_t i = 0; i < change.touched.size(); ++i) {
    const absl::Status status = Replace(*change.touched[i], pairs[2 * i + 1], change.config);
    if (!status.ok()) return Failure(pairs[2 * i], std::string(status.message()));
  }
  return change;
}

std::string ConfigSetFailure(std::string_view name, std::string_view reason) {
  return StrCat("CONFIG SET failed (possibly related to argument '", name, "') - ", reason);
}

}  // namespace tally::server
