#include "core/keyspace/access.h"

#include <catch2/catch.hpp>
#include <vector>

#include "random_seed.h"

namespace tally::access_test {
namespace {

using test::SeededRandom;

constexpr int64_t kNow = 1'700'000'000'000;
constexpr int64_t kMinute = 60'000;

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
  CHECK(mark <= kAccessMask);
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
  // Redis's documentation says, for a factor of 10: 10 after 100 hits, 18 after 1,000, 142 after
  // 100,000, 255 after a million. One key's count scatters (by 1.2, 2.2 and 7); the means of so
  // many keys stay within these bounds but for once in 10^12 runs.
  std::vector<uint32_t> marks(64, NewFrequencyMark(kNow));
  const auto mean_after = [&](int uses) {
    double sum = 0;
    for (uint32_t& mark : marks) {
      for (int i = 0; i < uses; ++i) mark = UsedFrequencyMark(mark, tracking, kNow, random.Next());
      sum += FrequencyOf(mark, tracking, kNow);
    }
    return sum / static_cast<double>(marks.size());
  };
  CHECK(mean_after(100) == Approx(9.72).margin(1.2));
  CHECK(mean_after(900) == Approx(19.38).margin(2.1));
  CHECK(mean_after(99'000) == Approx(146.7).margin(7));
  marks.resize(1);
  CHECK(mean_after(1'500'000) == 255);
  CHECK(UsedFrequencyMark(NewFrequencyMark(kNow), tracking, kNow, UINT64_MAX) ==
        NewFrequencyMark(kNow) + 1);
}

}  // namespace
}  // namespace tally::access_test
