// The texts of durations and instants in tallyd's own commands. Decimal arithmetic only: a double
// would move an instant by a millisecond, and window edges are exact to the millisecond.
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

// `500ms`, `5s`, `10m`, `24h`, `7d` in whole units, or a bare number of seconds that may have a
// decimal fraction; digits beyond the millisecond are cut off. Zero parses: whether it is meant is
// for the caller. nullopt for anything else, and beyond kMaxDurationMs.
std::optional<int64_t> ParseDuration(std::string_view text);

// As ParseDuration reads it, in the largest unit of which it is a whole number: 90000 is "90s".
std::string FormatDuration(int64_t ms);

// Unix seconds, with or without a decimal fraction, or `1795230400123ms` in whole milliseconds, as
// unix milliseconds; digits beyond the millisecond are cut off. nullopt for anything else, and
// beyond kMaxInstantMs.
std::optional<int64_t> ParseInstant(std::string_view text);

// Of a bare number above 1e11, which as seconds is thousands of years away and as milliseconds is
// an instant of our time: the milliseconds that were meant. nullopt for anything else.
std::optional<int64_t> ParseLikelyMilliseconds(std::string_view text);

}  // namespace tally
