// Parses and formats durations and instants in tallyd's own commands. Uses decimal arithmetic only,
// because a double could move an instant by a millisecond, and window edges are exact to the
// millisecond.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally {

// Instants are unix milliseconds in [0, kMaxInstantMs], up to 9999-12-31T23:59:59.999Z, and
// durations are milliseconds in [0, kMaxDurationMs]. The sum or difference of any two of them stays
// far inside int64, so that window arithmetic needs no further checks.
inline constexpr int64_t kMaxInstantMs = 253'402'300'799'999;
inline constexpr int64_t kMaxDurationMs = kMaxInstantMs;
inline constexpr int64_t kDayMs = 86'400'000;

// Parses `500ms`, `5s`, `10m`, `24h`, `7d` in whole units, or a bare number of seconds, which may
// have a decimal fraction; digits beyond the millisecond are dropped. Sets `ms`. Zero is accepted:
// the caller decides whether it is allowed. Returns false, with `ms` unchanged, for anything else,
// and beyond kMaxDurationMs. See ReadInt64 for why it returns no optional.
[[nodiscard]] bool ReadDuration(std::string_view text, int64_t& ms);

// The same with nullopt for false.
inline std::optional<int64_t> ParseDuration(std::string_view text) {
  int64_t ms = 0;
  return ReadDuration(text, ms) ? std::optional(ms) : std::nullopt;
}

// Formats a duration so that ParseDuration can read it, in the largest unit that divides it: 90000
// gives "90s".
std::string FormatDuration(int64_t ms);

// Parses unix seconds, with or without a decimal fraction, or whole milliseconds such as
// `1795230400123ms`. Returns unix ms; digits beyond the millisecond are dropped. Returns nullopt
// for anything else, and beyond kMaxInstantMs.
std::optional<int64_t> ParseInstant(std::string_view text);

// Recognises milliseconds that were given without `ms`: a bare number above 1e11, which as seconds
// is thousands of years away and as milliseconds is an instant of our time. Returns these
// milliseconds without a fraction; nullopt for anything else.
std::optional<int64_t> ParseLikelyMilliseconds(std::string_view text);

}  // namespace tally
