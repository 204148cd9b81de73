#include "core/keyspace/access.h"

#include <catch2/catch.hpp>

#include "random_seed.h"

using tally::AccessTracking;
using tally::FrequencyOf;
using tally::IdleSeconds;
using tally::NewFrequencyMark;
using tally::TimeMark;
using tally::UsedFrequencyMark;
using tally::test::SeededRandom;

namespace {

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kMinute = 60'000;

}  // namespace

TEST_CASE("access marks by time tell idle seconds, also over their wrap") {
  CHECK(IdleSeconds(TimeMark(kNow), kNow + 999) == 0);
  CHECK(IdleSeconds(TimeMark(kNow), kNow + 86'400'000) == 86'400);
  const int64_t wrap = (int64_t{1} << 24) * 1000;
  CHECK(TimeMark(wrap - 1000) == 0xFFFFFF);
  CHECK(IdleSeconds(TimeMark(wrap - 3000), wrap + 4000) == 7);
}

TEST_CASE("access marks by frequency begin at 5 and fall by one for each period without use") {
  AccessTracking tracking{.by_frequency = true, .log_factor = 10, .decay_minutes = 2};
  const uint32_t mark = NewFrequencyMark(kNow);
  CHECK(mark <= tally::kAccessMask);
  CHECK(FrequencyOf(mark, tracking, kNow) == 5);
  CHECK(FrequencyOf(mark, tracking, kNow + 1 * kMinute) == 5);
  CHECK(FrequencyOf(mark, tracking, kNow + 6 * kMinute) == 2);
  CHECK(FrequencyOf(mark, tracking, kNow + 600 * kMinute) == 0);
  tracking.decay_minutes = 0;
  CHECK(FrequencyOf(mark, tracking, kNow + 600 * kMinute) == 5);
}

TEST_CASE("access marks by frequency grow with the logarithm of the uses") {
  SeededRandom random;
  INFO("seed " << random.seed());
  const AccessTracking tracking{.by_frequency = true};
  uint32_t mark = NewFrequencyMark(kNow);
  // Of what Redis's documentation tells for a factor of 10: 10 after 100 hits, 18 after 1,000,
  // 142 after 100,000, 255 after a million.
  const auto after = [&](int uses) {
    for (int i = 0; i < uses; ++i) mark = UsedFrequencyMark(mark, tracking, kNow, random.Next());
    return FrequencyOf(mark, tracking, kNow);
  };
  const uint32_t hundred = after(100);
  CHECK((hundred >= 7 && hundred <= 14));
  const uint32_t thousand = after(900);
  CHECK((thousand >= 14 && thousand <= 24));
  const uint32_t many = after(99'000);
  CHECK((many >= 120 && many <= 165));
  CHECK(after(1'500'000) == 255);
  CHECK(UsedFrequencyMark(NewFrequencyMark(kNow), tracking, kNow, UINT64_MAX) ==
        NewFrequencyMark(kNow) + 1);
}
