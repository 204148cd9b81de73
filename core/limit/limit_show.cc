#include "core/limit/limit_show.h"

#include <algorithm>
#include <tuple>

#include "core/base/saturating.h"
#include "core/limit/holds.h"
#include "core/limit/limit_math.h"
#include "core/limit/lockout.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

// What a counter holds for hits that are as late as its own.
LimitShown ShownOf(const LimitCounter& counter, int64_t now_ms) {
  const LimitNumbers& numbers = counter.numbers;
  const int64_t e_ms = now_ms - counter.late_ms;
  LimitShown shown;
  shown.algorithm = counter.key.algorithm;
  shown.key = counter.key;
  shown.period_ms = counter.key.period_ms;
  shown.newest_ms = numbers.window.start_ms;
  shown.ends_ms = counter.ExpiresAt();
  switch (counter.key.algorithm) {
    case Algorithm::kCalendar:
      shown.unit = NameOf(counter.key.unit);
      shown.used = numbers.hits;
      break;
    case Algorithm::kSliding:
      shown.used = static_cast<int64_t>(counter.log->CountAfter(e_ms - counter.key.period_ms));
      shown.newest_ms = counter.log->empty() ? 0 : counter.log->newest_ms();
      break;
    case Algorithm::kRolling:
      shown.used = RollingHits(numbers, counter.key.period_ms, e_ms);
      break;
    case Algorithm::kBucket:
      shown.used = MissingTokens(numbers, counter.key.period_ms, e_ms);
      break;
    default:
      shown.used = numbers.hits;
      break;
  }
  return shown;
}

LimitShown DayOf(const LimitCounter& base) {
  LimitShown shown;
  shown.algorithm = Algorithm::kBase;
  shown.key = base.key;
  shown.unit = NameOf(CalendarUnit::kDay);
  shown.used = base.numbers.before;
  shown.newest_ms = base.numbers.day.start_ms;
  shown.ends_ms = base.numbers.day.end_ms + base.late_ms;
  return shown;
}

// The block of a LOCKOUT for hits that are as late as its own. One that was taken back counts as
// the one before it, when the next is to be longer.
LimitShown BlockOf(const LimitCounter& counter, int64_t e_ms) {
  const LimitNumbers& numbers = counter.numbers;
  const bool is_on = IsBlocked(numbers, e_ms);
  LimitShown shown;
  shown.algorithm = Algorithm::kLockout;
  shown.unit = is_on ? "block" : "remembered";
  shown.used = numbers.before < 0 ? -numbers.before - 1 : numbers.before;
  shown.newest_ms = numbers.day.start_ms;
  shown.ends_ms = numbers.day.end_ms + (is_on ? 0 : numbers.refill) + counter.late_ms;
  return shown;
}

// The period of a LOCKOUT: nothing while a block is on, which has ended it.
LimitShown PeriodOf(const LimitCounter& counter, LimitShown shown, int64_t e_ms) {
  LimitNumbers numbers = counter.numbers;
  RollLockout(numbers, e_ms);
  shown.used = IsBlocked(numbers, e_ms) ? 0 : numbers.hits;
  shown.ends_ms = numbers.window.end_ms + counter.late_ms;
  return shown;
}

// All that is held, and what CONCURRENT limits of it.
std::vector<LimitShown> HeldOf(const Holds& holds, int64_t now_ms) {
  LimitShown all;
  all.algorithm = Algorithm::kHolds;
  all.unit = "held";
  LimitShown concurrent = all;
  concurrent.algorithm = Algorithm::kConcurrent;
  LimitShown shadow = concurrent;
  shadow.key.shadow = true;
  const auto add = [](LimitShown& shown, const HoldView& hold) {
    shown.used = SaturatingAdd(shown.used, hold.cost());
    shown.newest_ms = std::max(shown.newest_ms, hold.newest_at_ms());
    shown.ends_ms = std::max(shown.ends_ms, hold.deadline_ms());
  };
  holds.ForEachHeld([&](const HoldView& hold, const HoldCountersReader& rules) {
    if (hold.deadline_ms() <= now_ms || hold.cost() == 0) return;
    add(all, hold);
    if (rules.last().concurrent) add(concurrent, hold);
    if (rules.last().shadow_concurrent) add(shadow, hold);
  });
  return {all, concurrent, shadow};
}

}  // namespace

std::vector<LimitShown> ShowLimits(const LimitState& state, int64_t now_ms) {
  std::vector<LimitShown> all;
  const auto show = [&](LimitShown shown) {
    if (shown.newest_ms > now_ms) {
      // The clock was set back.
      shown.ends_ms -= shown.newest_ms - now_ms;
      shown.newest_ms = now_ms;
    }
    if (shown.used > 0 && shown.ends_ms > now_ms) all.push_back(shown);
  };
  for (const LimitCounter& counter : state.counters()) {
    LimitShown shown = ShownOf(counter, now_ms);
    if (counter.key.algorithm == Algorithm::kBase) {
      show(DayOf(counter));
      shown.ends_ms = counter.numbers.window.end_ms + counter.late_ms;
    } else if (counter.key.algorithm == Algorithm::kLockout) {
      show(BlockOf(counter, now_ms - counter.late_ms));
      shown = PeriodOf(counter, shown, now_ms - counter.late_ms);
    }
    show(shown);
  }
  if (state.holds() != nullptr) {
    for (const LimitShown& shown : HeldOf(*state.holds(), now_ms)) show(shown);
  }
  std::sort(all.begin(), all.end(), [](const LimitShown& a, const LimitShown& b) {
    const auto order = [](const LimitShown& one) {
      return std::tuple(one.key.shadow, one.algorithm, one.unit, one.period_ms, one.ends_ms,
                        one.newest_ms, one.used);
    };
    return order(a) < order(b);
  });
  return all;
}

}  // namespace tally
