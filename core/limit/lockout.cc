#include "core/limit/lockout.h"

#include <algorithm>

#include "core/base/saturating.h"
#include "core/base/wide.h"

namespace tally {
namespace {

// Far above what anybody reads.
constexpr int64_t kMostSteps = 1'000'000;

// Whether the hits are those of the period that the last block has ended.
bool HasEndedPeriod(const LimitNumbers& numbers) {
  return numbers.before > 0 && numbers.window.start_ms < numbers.day.end_ms;
}

int64_t Longer(int64_t length_ms, const LockoutBlock& block) {
  const Wide product = Wide{length_ms} * block.factor;
  const Wide longer = (product + LockoutBlock::kOne - 1) / LockoutBlock::kOne;
  return static_cast<int64_t>(std::min<Wide>(longer, block.most_ms));
}

// Sets the length of the block that starts at `e_ms`, and its step.
void StartBlock(LimitNumbers& numbers, const LockoutBlock& block, int64_t e_ms) {
  const bool grows =
      numbers.before != 0 && block.most_ms > 0 && e_ms - numbers.day.end_ms < block.most_ms;
  int64_t length_ms = block.first_ms;
  if (!grows) {
    numbers.before = 1;
  } else if (const int64_t last_ms = numbers.day.end_ms - numbers.day.start_ms;
             numbers.before < 0) {
    // The last one was taken back: this one takes its place.
    numbers.before = -numbers.before;
    length_ms = std::clamp(last_ms, block.first_ms, block.most_ms);
  } else {
    numbers.before = std::min(numbers.before + 1, kMostSteps);
    length_ms = std::max(block.first_ms, Longer(last_ms, block));
  }
  numbers.day = {e_ms, e_ms + length_ms};
  numbers.refill = block.most_ms;
}

void ForgetBlock(LimitNumbers& numbers) {
  numbers.before = 0;
  numbers.refill = 0;
  numbers.day = {};
}

}  // namespace

bool IsBlocked(const LimitNumbers& numbers, int64_t e_ms) {
  return numbers.before > 0 && e_ms < numbers.day.end_ms;
}

void RollLockout(LimitNumbers& numbers, int64_t e_ms) {
  // The period of a block that is on may be given back.
  if (IsBlocked(numbers, e_ms)) return;
  // No window opens here, as a late hit may be of a block that is over, and open none.
  if (e_ms >= numbers.window.end_ms || HasEndedPeriod(numbers)) numbers.hits = 0;
  const int64_t kept_until_ms = numbers.before == 0 ? 0 : numbers.day.end_ms + numbers.refill;
  if (e_ms >= numbers.day.end_ms && e_ms >= kept_until_ms) ForgetBlock(numbers);
}

void AddToLockout(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at_ms,
                  int64_t e_ms) {
  // A late hit may be of a block that is over, or of the period before it.
  if (numbers.before > 0 && at_ms < numbers.day.end_ms) return;
  if (numbers.hits == 0) numbers.window = {at_ms, at_ms + rule.period_ms};
  numbers.hits = SaturatingAdd(numbers.hits, cost);
  if (numbers.hits >= std::min(rule.limit, rule.shared_base)) StartBlock(numbers, rule.block, e_ms);
}

void GiveToLockout(LimitNumbers& numbers, int64_t count, int64_t e_ms) {
  const bool blocked = IsBlocked(numbers, e_ms);
  // Those of a period that is over, as its block is, are not kept for anything.
  if (!blocked && HasEndedPeriod(numbers)) return;
  numbers.hits -= std::min(count, numbers.hits);
  if (!blocked) return;
  if (numbers.before == 1) {
    ForgetBlock(numbers);
  } else {
    numbers.before = -numbers.before;
  }
}

void SetLockoutBackTo(LimitNumbers& numbers, int64_t period_ms, int64_t now_ms) {
  if (numbers.window.start_ms > now_ms) numbers.window = {now_ms, now_ms + period_ms};
  if (numbers.day.start_ms <= now_ms) return;
  numbers.day = {now_ms, now_ms + (numbers.day.end_ms - numbers.day.start_ms)};
}

int64_t LockoutUnusedFrom(const LimitNumbers& numbers, int64_t e_ms) {
  if (IsBlocked(numbers, e_ms)) return numbers.day.end_ms;
  return numbers.hits > 0 ? numbers.window.end_ms : 0;
}

int64_t LockoutExpiry(const LimitNumbers& numbers) {
  const int64_t window_end_ms =
      numbers.hits > 0 && !HasEndedPeriod(numbers) ? numbers.window.end_ms : 0;
  return std::max(window_end_ms, numbers.before == 0 ? 0 : numbers.day.end_ms + numbers.refill);
}

}  // namespace tally
