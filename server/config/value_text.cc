#include "server/config/value_text.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/time/duration.h"
#include "server/resp/split_args.h"

namespace tally::server {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

constexpr Unit kMemoryUnits[] = {
    {"", 1},
    {"b", 1},
    {"k", 1000},
    {"kb", 1024},
    {"m", 1000 * 1000},
    {"mb", 1024 * 1024},
    {"g", 1000 * 1000 * 1000},
    {"gb", 1024 * 1024 * 1024},
};

// A number that was read: its value, or the end of int64_t that it is beyond.
struct Number {
  int64_t value = 0;
  bool is_beyond = false;
};

Number Beyond(bool is_negative) { return {is_negative ? INT64_MIN : INT64_MAX, true}; }

// A whole number followed by a unit's name. Nullopt if the text is none.
std::optional<Number> ReadWithUnit(std::string_view text, std::span<const Unit> units, int base) {
  const bool is_negative = text.starts_with('-');
  const std::string_view rest = text.substr(is_negative ? 1 : 0);
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  if (digits == 0) return std::nullopt;
  const std::string name = ToLower(rest.substr(digits));
  const auto unit =
      std::find_if(units.begin(), units.end(), [&](const Unit& one) { return one.name == name; });
  if (unit == units.end()) return std::nullopt;
  const char* const last = rest.data() + digits;
  Number number;
  const auto [end, error] = std::from_chars(text.data(), last, number.value, base);
  if (error == std::errc::result_out_of_range) return Beyond(is_negative);
  if (error != std::errc() || end != last) return std::nullopt;
  const bool overflows = __builtin_mul_overflow(number.value, unit->factor, &number.value);
  return overflows ? Beyond(is_negative) : number;
}

std::optional<Number> ReadNumber(std::string_view text, Quantity quantity) {
  constexpr Unit kNone[] = {{"", 1}};
  switch (quantity) {
    case Quantity::kBytes:
      return ReadWithUnit(text, kMemoryUnits, 10);
    case Quantity::kMode:
      return ReadWithUnit(text, kNone, 8);
    case Quantity::kDuration: {
      const auto ms = ParseDuration(ToLower(text));
      return ms ? std::optional(Number{*ms}) : std::nullopt;
    }
    case Quantity::kCount:
      break;
  }
  // As Redis reads it: without zeros in front.
  if (const auto value = ParseInt64(text)) return Number{*value};
  const auto number = ReadWithUnit(text, kNone, 10);
  return number && number->is_beyond ? number : std::nullopt;
}

const char* WhatIsWanted(Quantity quantity) {
  switch (quantity) {
    case Quantity::kBytes:
      return "argument must be a memory value";
    case Quantity::kDuration:
      return "argument must be a duration such as 500ms, 5s, 10m or 30d, between ";
    case Quantity::kMode:
      return "argument couldn't be parsed as an octal number";
    case Quantity::kCount:
      break;
  }
  return "argument couldn't be parsed into an integer";
}

std::string FormatQuantity(int64_t value, Quantity quantity) {
  if (quantity == Quantity::kDuration) return FormatDuration(value);
  return quantity == Quantity::kMode ? FormatOctal(value) : StrCat(value);
}

bool IsUnquoted(char c) {
  return c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '\\' && c != '#';
}

}  // namespace

absl::StatusOr<int64_t> ReadQuantity(std::string_view text, Quantity quantity, Bounds bounds) {
  const auto number = ReadNumber(text, quantity);
  if (number && !number->is_beyond && bounds.min <= number->value && number->value <= bounds.max) {
    return number->value;
  }
  const bool is_duration = quantity == Quantity::kDuration;
  if (!number && !is_duration) return absl::InvalidArgumentError(WhatIsWanted(quantity));
  return absl::InvalidArgumentError(
      StrCat(is_duration ? WhatIsWanted(quantity) : "argument must be between ",
             FormatQuantity(bounds.min, quantity), " and ", FormatQuantity(bounds.max, quantity),
             " inclusive"));
}

std::string FormatOctal(int64_t mode) {
  char digits[24];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), mode, 8).ptr);
}

std::string QuoteWord(std::string_view word) {
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsUnquoted)) return std::string(word);
  std::string quoted = "\"";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      StrAppend(quoted, '\\', c);
    } else if (byte < 0x20 || byte >= 0x7f) {
      absl::StrAppend(&quoted, "\\x", absl::Hex(byte, absl::kZeroPad2));
    } else {
      quoted += c;
    }
  }
  quoted += '"';
  return quoted;
}

std::string QuoteIfNeeded(std::string_view word) {
  const auto read = SplitArgs(word);
  const bool is_plain = read && read->size() == 1 && read->front() == word;
  return is_plain ? std::string(word) : QuoteWord(word);
}

std::string JoinQuoted(std::span<const std::string> words) {
  std::string line;
  for (const std::string& word : words)
    StrAppend(line, line.empty() ? "" : " ", QuoteIfNeeded(word));
  return line;
}

std::vector<std::string> SplitAtSpaces(std::string_view text) {
  return absl::StrSplit(absl::string_view(text.data(), text.size()), ' ', absl::SkipEmpty());
}

std::string ToLower(std::string_view text) {
  return absl::AsciiStrToLower({text.data(), text.size()});
}

}  // namespace tally::server
