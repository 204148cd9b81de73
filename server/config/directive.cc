#include "server/config/directive.h"

#include <absl/status/statusor.h>

#include "core/bytes/str_cat.h"
#include "core/time/duration.h"
#include "server/config/value_text.h"

namespace tally::server {
namespace {

std::string Join(ConfigWords words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) StrAppend(text, text.empty() ? "" : separator, word);
  return text;
}

absl::Status Refuse(const std::string& reason) { return absl::InvalidArgumentError(reason); }

absl::Status Store(std::string_view word, Quantity quantity, Bounds bounds,
                   int64_t Config::* member, Config& config) {
  const absl::StatusOr<int64_t> value = ReadQuantity(word, quantity, bounds);
  if (value.ok()) config.*member = *value;
  return value.status();
}

// Checks the value of a directive without effect and returns it as CONFIG GET shows it.
absl::StatusOr<std::string> AcceptedText(AcceptedField::Kind kind, ConfigWords words) {
  using Kind = AcceptedField::Kind;
  using Kind = AcceptedField::Kind;
  const std::string& word = words[0];
  switch (kind) {
    case Kind::kYesNo: {
      const std::string lower = ToLower(word);
      if (lower != "yes" && lower != "no") return Refuse("argument must be 'yes' or 'no'");
      return lower;
    }
    case Kind::kInt: {
      const auto value = ReadQuantity(word, Quantity::kCount, {.min = INT64_MIN});
      if (!value.ok()) return value.status();
      return StrCat(*value);
    }
    case Kind::kMemory: {
      const auto bytes = ReadQuantity(word, Quantity::kBytes);
      if (!bytes.ok()) return bytes.status();
      return StrCat(*bytes);
    }
    case Kind::kText:
    case Kind::kWords:
      return Join(words, " ");
  }
  return word;
}

// Sets a field of each kind. Assign has checked the number of words for fields of one word.
struct Assigner {
  const Directive& directive;
  ConfigWords words;
  Config& config;

  const std::string& word() const { return words[0]; }

  absl::Status operator()(const BoolField& field) const {
    const std::string lower = ToLower(word());
    if (lower != "yes" && lower != "no") return Refuse("argument must be 'yes' or 'no'");
    config.*field.member = lower == "yes";
    return absl::OkStatus();
  }

  absl::Status operator()(const IntField& field) const {
    return Store(word(), Quantity::kCount, {field.min, field.max}, field.member, config);
  }

  absl::Status operator()(const MemoryField& field) const {
    return Store(word(), Quantity::kBytes, {field.min, field.max}, field.member, config);
  }

  absl::Status operator()(const OctalField& field) const {
    return Store(word(), Quantity::kMode, {field.min, field.max}, field.member, config);
  }

  absl::Status operator()(const DurationField& field) const {
    return Store(word(), Quantity::kDuration, {field.min, field.max}, field.member, config);
  }

  absl::Status operator()(const StringField& field) const {
    const char* const reason = field.check == nullptr ? nullptr : field.check(word());
    if (reason != nullptr) return Refuse(reason);
    config.*field.member = word();
    return absl::OkStatus();
  }

  absl::Status operator()(const ListField& field) const {
    std::vector<std::string>& list = config.*field.member;
    const bool clears = words.size() == 1 && words[0].empty();
    if (clears) {
      list.clear();
    } else if (directive.Is(kRepeated)) {
      list.push_back(JoinQuoted(words));
    } else {
      list.assign(words.begin(), words.end());
    }
    return absl::OkStatus();
  }

  absl::Status operator()(const EnumField& field) const {
    const std::string lower = ToLower(word());
    std::string names;
    for (const EnumOption& option : field.options) {
      if (option.name == lower) {
        field.set(config, option.value);
        return absl::OkStatus();
      }
      StrAppend(names, names.empty() ? "" : ", ", option.name);
    }
    return Refuse(StrCat("argument(s) must be one of the following: ", names));
  }

  absl::Status operator()(const CustomField& field) const { return field.assign(words, config); }

  absl::Status operator()(const AcceptedField& field) const {
    absl::StatusOr<std::string> text = AcceptedText(field.kind, words);
    if (!text.ok()) return text.status();
    const char* const reason = field.check == nullptr ? nullptr : field.check(*text);
    if (reason != nullptr) return Refuse(reason);
    std::string& value = config.accepted[std::string(directive.name)];
    if (directive.Is(kRepeated) && !value.empty()) value += ' ';
    if (!directive.Is(kRepeated)) value.clear();
    value += *text;
    return absl::OkStatus();
  }
};

struct Formatter {
  const Directive& directive;
  const Config& config;

  std::string operator()(const BoolField& field) const {
    return config.*field.member ? "yes" : "no";
  }
  std::string operator()(const IntField& field) const { return StrCat(config.*field.member); }
  std::string operator()(const MemoryField& field) const { return StrCat(config.*field.member); }
  std::string operator()(const OctalField& field) const {
    return FormatOctal(config.*field.member);
  }
  std::string operator()(const DurationField& field) const {
    const int64_t ms = config.*field.member;
    return ms == 0 ? "0" : FormatDuration(ms);
  }
  std::string operator()(const StringField& field) const { return config.*field.member; }
  std::string operator()(const ListField& field) const { return Join(config.*field.member, " "); }
  std::string operator()(const EnumField& field) const {
    const int value = field.get(config);
    for (const EnumOption& option : field.options) {
      if (option.value == value) return std::string(option.name);
    }
    return "unknown";
  }
  std::string operator()(const CustomField& field) const { return field.format(config); }
  std::string operator()(const AcceptedField& field) const {
    const auto found = config.accepted.find(directive.name);
    return std::string(found == config.accepted.end() ? field.default_value : found->second);
  }
};

}  // namespace

const Directive* FindDirective(std::string_view name) {
  const std::string lower = ToLower(name);
  for (const Directive& directive : Directives()) {
    if (directive.name == lower || (!directive.alias.empty() && directive.alias == lower)) {
      return &directive;
    }
  }
  return nullptr;
}

bool IsMultiWord(const Directive& directive) {
  if (const auto* custom = std::get_if<CustomField>(&directive.field)) return custom->multi;
  if (const auto* accepted = std::get_if<AcceptedField>(&directive.field)) {
    return accepted->kind == AcceptedField::Kind::kWords;
  }
  return std::holds_alternative<ListField>(directive.field);
}

std::string FormatValue(const Directive& directive, const Config& config) {
  return std::visit(Formatter{directive, config}, directive.field);
}

absl::Status Assign(const Directive& directive, ConfigWords words, Config& config) {
  if (words.empty() || (words.size() > 1 && !IsMultiWord(directive))) {
    return Refuse("wrong number of arguments");
  }
  // The command line and CONFIG SET give several words as one argument.
  const std::vector<std::string> parts = words.size() == 1 && IsMultiWord(directive)
                                             ? SplitAtSpaces(words[0])
                                             : std::vector<std::string>();
  return std::visit(Assigner{directive, parts.size() > 1 ? ConfigWords(parts) : words, config},
                    directive.field);
}

std::vector<std::string> FormatLines(const Directive& directive, const Config& config) {
  const auto* list = std::get_if<ListField>(&directive.field);
  std::vector<std::string> lines;
  const bool accepted = std::holds_alternative<AcceptedField>(directive.field);
  if (accepted && directive.Is(kRepeated)) return lines;
  if (list != nullptr && directive.Is(kRepeated)) {
    for (const std::string& value : config.*list->member) {
      lines.push_back(StrCat(directive.name, ' ', value));
    }
    return lines;
  }
  const std::string value = FormatValue(directive, config);
  if (directive.Is(kOptional) && value.empty()) return lines;
  const bool words = IsMultiWord(directive) && !value.empty();
  lines.push_back(StrCat(directive.name, ' ', words ? value : QuoteWord(value)));
  return lines;
}

}  // namespace tally::server
