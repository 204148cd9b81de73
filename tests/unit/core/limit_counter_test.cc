#include "core/limit/limit_counter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "core/base/saturating.h"
#include "core/limit/refund.h"
#include "core/time/duration.h"
#include "random_seed.h"

namespace tally::test::limit_counter_test {
namespace {

using Algorithm = LimitAlgorithm;

constexpr Algorithm kAlgorithms[] = {Algorithm::kFixed,   Algorithm::kCalendar, Algorithm::kSliding,
                                     Algorithm::kRolling, Algorithm::kBucket,   Algorithm::kBase,
                                     Algorithm::kLockout};

// Of all magnitudes up to `most`, and 0.
int64_t AnyUpTo(SeededRandom& random, int64_t most) {
  if (random.OneIn(5)) return random.OneIn(2) ? 0 : most;
  const int64_t magnitude = int64_t{1} << random.Below(62);
  return static_cast<int64_t>(random.Below(static_cast<uint64_t>(std::min(most, magnitude)) + 1));
}

Period AnyPeriod(SeededRandom& random, int64_t length_ms) {
  const int64_t start_ms = AnyUpTo(random, kMaxInstantMs);
  return {start_ms, start_ms + length_ms};
}

LimitCounter AnyCounter(SeededRandom& random) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  LimitCounter counter;
  counter.key.algorithm = kAlgorithms[random.Below(std::size(kAlgorithms))];
  counter.key.period_ms = 1 + AnyUpTo(random, kMaxDurationMs - 1);
  counter.late_ms = random.OneIn(2) ? 0 : AnyUpTo(random, kMaxInstantMs);
  if (counter.key.algorithm == Algorithm::kSliding) {
    counter.log = std::make_unique<TimeLog>();
    if (!random.OneIn(3)) counter.log->Add(AnyUpTo(random, kMaxInstantMs), 1);
    return counter;
  }
  LimitNumbers& numbers = counter.numbers;
  numbers.window = AnyPeriod(random, counter.key.period_ms);
  numbers.day = AnyPeriod(random, counter.key.period_ms);
  numbers.hits = AnyUpTo(random, kMax);
  numbers.before = AnyUpTo(random, kMax);
  // Of LOCKOUT it is a duration.
  const bool is_duration = counter.key.algorithm == Algorithm::kLockout;
  numbers.refill = 1 + AnyUpTo(random, (is_duration ? kMaxDurationMs : kMax) - 1);
  return counter;
}

TEST_CASE("whether a counter has expired is when it expires, asked without dividing") {
  SeededRandom random;
  CAPTURE(random.seed());
  for (int i = 0; i < 200'000; ++i) {
    const LimitCounter counter = AnyCounter(random);
    const int64_t end = counter.ExpiresAt();
    CAPTURE(i, static_cast<int>(counter.key.algorithm), counter.key.period_ms, counter.late_ms,
            counter.numbers.hits, counter.numbers.before, counter.numbers.refill, end);
    const int64_t any = AnyUpTo(random, kMaxInstantMs);
    for (const int64_t instant : {any, end - 1, end, SaturatingAdd(end, 1)}) {
      if (instant < 0 || instant > kMaxInstantMs) continue;
      REQUIRE(counter.HasExpiredAt(instant) == (end <= instant));
    }
  }
}

TEST_CASE("what was held in a window that is over takes nothing off another, before it or after") {
  constexpr int64_t kStart = 1'000'000;
  constexpr int64_t kPeriod = 60'000;
  for (const Algorithm algorithm : {Algorithm::kFixed, Algorithm::kCalendar, Algorithm::kRolling,
                                    Algorithm::kBase, Algorithm::kLockout}) {
    for (const int64_t at : {kStart - 1, kStart, kStart + kPeriod - 1, kStart + kPeriod}) {
      LimitCounter counter;
      counter.key.algorithm = algorithm;
      counter.key.period_ms = kPeriod;
      counter.numbers.hits = 3;
      counter.numbers.window = {kStart, kStart + kPeriod};
      if (algorithm == Algorithm::kBase) {
        counter.numbers.before = 3;
        counter.numbers.day = counter.numbers.window;
      }
      const int64_t before = counter.numbers.before;
      Refund(counter, {.hits = 1, .in_window = 1, .at_ms = at, .now_ms = kStart + 2 * kPeriod});
      CAPTURE(static_cast<int>(algorithm), at);
      const bool in_window = at >= kStart && at < kStart + kPeriod;
      CHECK(counter.numbers.hits == (in_window ? 2 : 3));
      CHECK(counter.numbers.before == (in_window && before > 0 ? 2 : before));
    }
  }
}

}  // namespace
}  // namespace tally::test::limit_counter_test
