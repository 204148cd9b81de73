#include "core/limit/limit_replay.h"

#include <algorithm>

#include "core/base/saturating.h"
#include "core/limit/limit_math.h"

namespace tally {
namespace {

void AddToBucketBefore(LimitNumbers& numbers, const LimitRule& rule, int64_t cost, int64_t at) {
  if (numbers.hits == 0) numbers.window.start_ms = at;
  BringBucketTo(numbers, numbers.refill, at);
  numbers.refill = rule.refill;
  numbers.hits = SaturatingAdd(numbers.hits, BucketUnits(rule, cost));
}

void CountBefore(const LimitRule& rule, LimitState& state, int64_t cost, int64_t now, int64_t at) {
  if (IsOutside(rule, at, now)) return;
  LimitCounter& counter = state.FindOrAdd(LimitKey::Of(rule));
  if (counter.taken) return;
  counter.taken = true;
  if (rule.algorithm == LimitAlgorithm::kSliding) {
    counter.log->Add(at, static_cast<uint64_t>(cost));
  } else if (rule.algorithm == LimitAlgorithm::kBucket) {
    AddToBucketBefore(counter.numbers, rule, cost, at);
  } else {
    Roll(counter.numbers, rule, std::max(now, at));
    AddHits(counter.numbers, rule, cost, at, std::max(now, at));
  }
}

}  // namespace

void CountAsBefore(std::span<const LimitUse> uses, int64_t cost, int64_t now, int64_t at) {
  for (const LimitUse& use : uses) {
    for (const LimitRule& rule : use.rules) {
      if (rule.counts()) CountBefore(rule, *use.state, cost, now, at);
    }
  }
  for (const LimitUse& use : uses) {
    use.state->EndOperation();
    use.state->Prune(now);
  }
}

}  // namespace tally
