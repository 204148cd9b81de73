// The table of directives has one row for each setting. The configuration file, the command line,
// CONFIG GET, SET and REWRITE and the test of conf/tallyd.conf all use it.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "server/config/config.h"

namespace tally::server {

using ConfigWords = std::span<const std::string>;

// The kinds of settings. Each takes exactly one word, unless IsMultiWord is true for the directive.
// The bounds of a number are those that the whole server can bear: whatever is within them may be
// set at any time.
struct BoolField {
  bool Config::* member;
};
struct IntField {
  int64_t Config::* member;
  int64_t min;
  int64_t max;
};
struct MemoryField {  // bytes, with units
  int64_t Config::* member;
  int64_t min;
  int64_t max = INT64_MAX;
};
struct OctalField {  // the mode of a file
  int64_t Config::* member;
  int64_t min = 0;
  int64_t max = 0777;
};
struct DurationField {  // held in milliseconds
  int64_t Config::* member;
  int64_t min;
  int64_t max;
};
struct StringField {
  std::string Config::* member;
  // Returns what is wrong with the text, or null. The function pointer may be null: no check.
  const char* (*check)(std::string_view text);
};
struct ListField {
  std::vector<std::string> Config::* member;
};
struct EnumOption {
  std::string_view name;
  int value;
};
struct EnumField {
  std::span<const EnumOption> options;
  int (*get)(const Config&);
  void (*set)(Config&, int);
};
struct CustomField {
  std::string (*format)(const Config&);
  absl::Status (*assign)(ConfigWords, Config&);
  bool multi;  // the value is several words
};
// A setting without effect: only the text of its value is kept, in Config::accepted.
struct AcceptedField {
  enum class Kind { kYesNo, kInt, kMemory, kText, kWords };
  Kind kind;
  std::string_view default_value;
  // Returns why the server cannot do what this value asks for, or null. The function pointer may be
  // null: no value asks for anything.
  const char* (*check)(std::string_view text) = nullptr;
};
using Field = std::variant<BoolField, IntField, MemoryField, OctalField, DurationField, StringField,
                           ListField, EnumField, CustomField, AcceptedField>;

enum DirectiveFlag : uint32_t {
  kImmutable = 1 << 0,  // fixed at start: CONFIG SET refuses it
  kSensitive = 1 << 1,  // its value must not reach logs, MONITOR or SLOWLOG
  kHidden = 1 << 2,     // CONFIG GET shows it only by its full name
  kRepeated = 1 << 3,   // a file may have several lines of it, whose values add up
};

struct Directive {
  std::string_view name;   // lower case
  std::string_view alias;  // an older name, or empty
  Field field;
  uint32_t flags = 0;
  std::string_view no_effect{};  // why it has no effect, for a warning; else empty

  bool Is(DirectiveFlag flag) const { return (flags & flag) != 0; }
};

std::span<const Directive> Directives();

// Finds a directive by name or alias, in any letter case; null if there is none.
const Directive* FindDirective(std::string_view name);

// Returns true if the value may be several words on a line.
bool IsMultiWord(const Directive& directive);

// The value as CONFIG GET shows it.
std::string FormatValue(const Directive& directive, const Config& config);

// Sets the value. After an error `config` is unchanged; the message is the reason without the name
// of the directive ("argument must be 'yes' or 'no'"). The value of a kRepeated directive is added
// to the present one; one empty word clears it.
absl::Status Assign(const Directive& directive, ConfigWords words, Config& config);

// The value as lines of a file. There are none for an empty kRepeated list, and for a kRepeated
// directive without effect.
std::vector<std::string> FormatLines(const Directive& directive, const Config& config);

}  // namespace tally::server
