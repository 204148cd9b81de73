#include "core/quota/left_counters.h"

#include <algorithm>
#include <limits>

#include "core/saturating.h"

namespace tally {
void LeftCounters::AddSku(int64_t sku, std::string_view limit_block, const QuotaActions& actions) {
  const size_t begin = counters_.size();
  for (PackedInput in(limit_block); !in.empty();) {
    LimitEntry entry;
    if (!ReadLimitEntry(in, entry)) break;
    if (!entry.is_set || !actions.Contains(entry.action)) continue;
    const int64_t deleted_ms =
        entry.deletion ? entry.deletion->deleted_ms : std::numeric_limits<int64_t>::min();
    counters_.emplace_back(entry.action, entry.limit, entry.window_ms, deleted_ms);
  }
  skus_.emplace_back(sku, begin, counters_.size());
}

const LeftCounters::Sku* LeftCounters::Find(int64_t sku) const {
  const Sku* const end = skus_.data() + skus_.size();
  if (skus_.size() > kFewSkus) {
    const Sku* found = std::lower_bound(
        skus_.data(), end, sku,
        [](const Sku& candidate, int64_t wanted) { return candidate.sku < wanted; });
    return found != end && found->sku == sku ? found : nullptr;
  }
  // Without branches: which of them it is, if any, is as good as random.
  const Sku* found = nullptr;
  for (const Sku* candidate = skus_.data(); candidate != end; ++candidate) {
    found = candidate->sku == sku ? candidate : found;
  }
  return found;
}

bool LeftCounters::Counts(const Counter& counter, const PurchaseLine& line) const {
  if (counter.action == kNoAction) {
    if (line.resets & kResetInTotal) return false;
  } else {
    if (line.action != counter.action || line.resets & kResetInAction) return false;
  }
  return line.recorded_ms > counter.deleted_ms &&
         now_ms_ < SaturatingAdd(line.ts_ms, counter.window_ms);
}

void LeftCounters::Count(const PurchaseLine& line) {
  const Sku* sku = Find(line.sku);
  if (sku == nullptr) return;
  for (size_t i = sku->begin; i < sku->end; ++i) {
    if (Counts(counters_[i], line)) counters_[i].bought += line.qty;
  }
}

bool LeftCounters::Try(const PurchaseLine& line) {
  const Sku* sku = Find(line.sku);
  if (sku == nullptr) return true;
  bool fits = true;
  for (size_t i = sku->begin; i < sku->end; ++i) {
    Counter& counter = counters_[i];
    if (counter.action != kNoAction && counter.action != line.action) continue;
    if (Counts(counter, line)) counter.trial += line.qty;
    if (counter.bought + counter.trial > counter.limit) fits = false;
  }
  return fits;
}

void LeftCounters::GiveUp() {
  for (Counter& counter : counters_) counter.trial = 0;
}

void LeftCounters::AppendLeft(int64_t sku, QuotaLefts& out) const {
  out.BeginSku(sku);
  const Sku* found = Find(sku);
  if (found == nullptr || found->begin == found->end) {
    out.Add(kNoAction, kUnlimited);
    return;
  }
  for (size_t i = found->begin; i < found->end; ++i) {
    const Counter& counter = counters_[i];
    const int64_t left = counter.limit - counter.bought - counter.trial;
    out.Add(counter.action, std::max<int64_t>(left, 0));
  }
}

bool LeftCounters::HasCounters(int64_t sku) const {
  const Sku* found = Find(sku);
  return found != nullptr && found->begin < found->end;
}

}  // namespace tally
