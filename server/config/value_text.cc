#include "server/config/value_text.h"

#include <algorithm>
#include <charconv>

#include "core/bytes/str_cat.h"
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

// From the largest to the smallest, as FormatDuration needs it.
constexpr Unit kTimeUnits[] = {
    {"d", 24 * 3600 * 1000}, {"h", 3600 * 1000}, {"m", 60 * 1000}, {"s", 1000}, {"ms", 1},
};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// A whole number of decimal digits followed by a unit's name.
template <size_t kCount>
std::optional<int64_t> ParseWithUnit(std::string_view text, const Unit (&units)[kCount]) {
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, number);
  if (digits == 0 || error != std::errc()) return std::nullopt;
  const std::string name = ToLower(text.substr(digits));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    int64_t product = 0;
    if (__builtin_mul_overflow(number, unit.factor, &product)) return std::nullopt;
    return product;
  }
  return std::nullopt;
}

bool IsPlain(char c) {
  return c > ' ' && c < 0x7f && c != '"' && c != '\'' && c != '\\' && c != '#';
}

}  // namespace

std::optional<int64_t> ParseMemory(std::string_view text) {
  return ParseWithUnit(text, kMemoryUnits);
}

std::optional<int64_t> ParseDuration(std::string_view text) {
  const bool bare = text.find_first_not_of("0123456789") == std::string_view::npos;
  return ParseWithUnit(bare ? StrCat(text, 's') : std::string(text), kTimeUnits);
}

std::string FormatDuration(int64_t milliseconds) {
  for (const Unit& unit : kTimeUnits) {
    if (milliseconds != 0 && milliseconds % unit.factor == 0) {
      return StrCat(milliseconds / unit.factor, unit.name);
    }
  }
  return "0";
}

std::optional<int64_t> ParseOctal(std::string_view text) {
  int64_t mode = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, mode, 8);
  if (error != std::errc() || end != last || mode < 0 || mode > 0777) return std::nullopt;
  return mode;
}

std::string FormatOctal(int64_t mode) {
  char digits[24];
  return std::string(digits, std::to_chars(digits, digits + sizeof(digits), mode, 8).ptr);
}

std::string QuoteWord(std::string_view word) {
  static constexpr char kHex[] = "0123456789abcdef";
  if (!word.empty() && std::all_of(word.begin(), word.end(), IsPlain)) return std::string(word);
  std::string quoted = "\"";
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      StrAppend(quoted, '\\', c);
    } else if (byte < 0x20 || byte >= 0x7f) {
      StrAppend(quoted, "\\x", kHex[byte >> 4], kHex[byte & 15]);
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
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

std::string ToLower(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

}  // namespace tally::server
