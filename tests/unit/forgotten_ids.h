// When the ids of reservations and of ONCE are forgotten, as the models of them know it: after ten
// minutes, at a whole ten seconds.
#pragma once

#include <cstdint>

namespace tally::test {

constexpr int64_t ToTenSeconds(int64_t instant) { return (instant + 9'999) / 10'000 * 10'000; }

// Of what is remembered from `instant` on, in unix ms.
constexpr int64_t Forgotten(int64_t instant) { return ToTenSeconds(instant + 600'000); }

}  // namespace tally::test
