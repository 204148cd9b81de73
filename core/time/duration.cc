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

// Removes the leading digits from `text` and returns their number. Returns nullopt if there are
// none or if the number exceeds `max`, which is kMaxDurationMs or kMaxInstantMs.
std::optional<int64_t> TakeDigits(std::string_view& text, int64_t max) {
  size_t digits = 0;
  int64_t value = 0;
  for (; digits < text.size() && IsDigit(text[digits]); ++digits) {
    value = value * 10 + (text[digits] - '0');
    if (value > max) return std::nullopt;
  }
  if (digits == 0) return std::nullopt;
  text.remove_prefix(digits);
  return value;
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

std::optional<int64_t> WithinMax(int64_t count, int64_t unit_ms, int64_t max) {
  if (count > max / unit_ms) return std::nullopt;
  return count * unit_ms;
}

std::optional<int64_t> SecondsToMs(int64_t seconds, std::string_view fraction, int64_t max) {
  const std::optional<int64_t> whole = WithinMax(seconds, 1000, max);
  if (!whole || fraction.empty()) return whole;
  const std::optional<int64_t> part = FractionMs(fraction);
  if (!part || *whole > max - *part) return std::nullopt;
  return *whole + *part;
}

}  // namespace

std::optional<int64_t> ParseDuration(std::string_view text) {
  const std::optional<int64_t> count = TakeDigits(text, kMaxDurationMs);
  if (!count) return std::nullopt;
  if (text == "ms") return WithinMax(*count, 1, kMaxDurationMs);
  if (text.size() == 1) {
    switch (text[0]) {
      case 's':
        return WithinMax(*count, 1000, kMaxDurationMs);
      case 'm':
        return WithinMax(*count, 60'000, kMaxDurationMs);
      case 'h':
        return WithinMax(*count, 3'600'000, kMaxDurationMs);
      case 'd':
        return WithinMax(*count, 86'400'000, kMaxDurationMs);
      default:
        return std::nullopt;
    }
  }
  return SecondsToMs(*count, text, kMaxDurationMs);
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
  const std::optional<int64_t> count = TakeDigits(text, kMaxInstantMs);
  if (!count || text == "ms") return count;
  return SecondsToMs(*count, text, kMaxInstantMs);
}

std::optional<int64_t> ParseLikelyMilliseconds(std::string_view text) {
  constexpr int64_t kMostSeconds = 100'000'000'000;
  const std::optional<int64_t> count = TakeDigits(text, kMaxInstantMs);
  if (!count || *count < kMostSeconds) return std::nullopt;
  if (text.empty()) return *count > kMostSeconds ? count : std::nullopt;
  return FractionMs(text) ? count : std::nullopt;
}

}  // namespace tally
