#include "core/time/duration.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/bytes/str_cat.h"

namespace tally {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

static_assert(std::max(kMaxDurationMs, kMaxInstantMs) < INT64_MAX / 16);

// Removes the leading digits from `text` and sets `number` to what they say. Returns false if there
// are none or if the number exceeds `max`, which is kMaxDurationMs or kMaxInstantMs.
bool TakeDigits(std::string_view& text, int64_t max, int64_t& number) {
  size_t digits = 0;
  int64_t value = 0;
  for (; digits < text.size() && IsDigit(text[digits]); ++digits) {
    value = value * 10 + (text[digits] - '0');
    if (value > max) return false;
  }
  if (digits == 0) return false;
  text.remove_prefix(digits);
  number = value;
  return true;
}

// Parses `.` and at least one digit, up to the end of the text, as whole milliseconds.
std::optional<int64_t> FractionMs(std::string_view text) {
  if (text.size() < 2 || text.front() != '.') return std::nullopt;
  int64_t ms = 0;
  int64_t weight = 100;
  for (const char c : text.substr(1)) {
    if (!IsDigit(c)) return std::nullopt;
    ms += (c - '0') * weight;
    weight /= 10;
  }
  return ms;
}

bool WithinMax(int64_t count, int64_t unit_ms, int64_t max_ms, int64_t& ms) {
  if (count > max_ms / unit_ms) return false;
  ms = count * unit_ms;
  return true;
}

bool SecondsToMs(int64_t seconds, std::string_view fraction, int64_t max_ms, int64_t& ms) {
  int64_t whole = 0;
  if (!WithinMax(seconds, 1000, max_ms, whole)) return false;
  int64_t part = 0;
  if (!fraction.empty()) {
    const std::optional<int64_t> read = FractionMs(fraction);
    if (!read || whole > max_ms - *read) return false;
    part = *read;
  }
  ms = whole + part;
  return true;
}

}  // namespace

bool ReadDuration(std::string_view text, int64_t& ms) {
  int64_t count = 0;
  if (!TakeDigits(text, kMaxDurationMs, count)) return false;
  if (text == "ms") return WithinMax(count, 1, kMaxDurationMs, ms);
  if (text.size() != 1) return SecondsToMs(count, text, kMaxDurationMs, ms);
  switch (text[0]) {
    case 's':
      return WithinMax(count, 1000, kMaxDurationMs, ms);
    case 'm':
      return WithinMax(count, 60'000, kMaxDurationMs, ms);
    case 'h':
      return WithinMax(count, 3'600'000, kMaxDurationMs, ms);
    case 'd':
      return WithinMax(count, 86'400'000, kMaxDurationMs, ms);
    default:
      return false;
  }
}

std::string FormatDuration(int64_t ms) {
  constexpr std::pair<int64_t, std::string_view> kUnits[] = {
      {86'400'000, "d"}, {3'600'000, "h"}, {60'000, "m"}, {1000, "s"}};
  for (const auto& [length, unit] : kUnits) {
    if (ms != 0 && ms % length == 0) return StrCat(ms / length, unit);
  }
  return StrCat(ms, "ms");
}

std::optional<int64_t> ParseInstant(std::string_view text) {
  int64_t count = 0;
  if (!TakeDigits(text, kMaxInstantMs, count)) return std::nullopt;
  if (text == "ms") return count;
  int64_t ms = 0;
  if (!SecondsToMs(count, text, kMaxInstantMs, ms)) return std::nullopt;
  return ms;
}

std::optional<int64_t> ParseLikelyMilliseconds(std::string_view text) {
  constexpr int64_t kMostSeconds = 100'000'000'000;
  int64_t count = 0;
  if (!TakeDigits(text, kMaxInstantMs, count) || count < kMostSeconds) return std::nullopt;
  const bool likely = text.empty() ? count > kMostSeconds : FractionMs(text).has_value();
  return likely ? std::optional(count) : std::nullopt;
}

}  // namespace tally
