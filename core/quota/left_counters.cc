#include "core/quota/left_counters.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/saturating.h"

namespace tally {

BookActions::BookActions(std::vector<BookId> listed) : all_(false), listed_(std::move(listed)) {
  std::sort(listed_.begin(), listed_.end());
}

bool BookActions::Lists(BookId action) const {
  return std::binary_search(listed_.begin(), listed_.end(), action);
}

size_t LeftCounters::AddSku(BookId sku, const LimitBlocks& blocks, const BookActions& actions) {
  const size_t begin = counters_.size();
  size_t visited = 0;
  for (const std::string_view block : blocks) {
    LimitEntry entry;
    for (PackedInput in(block); !in.empty();) {
      if (!ReadLimitEntry(in, entry)) break;
      ++visited;
      if (!entry.is_set || !actions.Contains(entry.action)) continue;
      const int64_t deleted_ms =
          entry.deletion ? entry.deletion->deleted_ms : std::numeric_limits<int64_t>::min();
      counters_.emplace_back(entry.action, entry.limit, entry.window_ms, deleted_ms);
    }
  }
  (sku.is_text ? text_skus_ : skus_).emplace_back(sku.value, begin, counters_.size());
  return visited;
}

const LeftCounters::Sku* LeftCounters::Find(const Skus& skus, int64_t value) {
  const Sku* const end = skus.data() + skus.size();
  if (skus.size() > kFewSkus) {
    const Sku* found = std::lower_bound(
        skus.data(), end, value,
        [](const Sku& candidate, int64_t wanted) { return candidate.value < wanted; });
    return found != end && found->value == value ? found : nullptr;
  }
  // Without branches, because a branch predictor cannot guess which SKU matches, if any.
  const Sku* found = nullptr;
  for (const Sku* candidate = skus.data(); candidate != end; ++candidate) {
    found = candidate->value == value ? candidate : found;
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

template <typename Call>
void LeftCounters::ForEachConcerned(const Sku& sku, BookId action, Call call) {
  Counter* const begin = counters_.data() + sku.begin;
  Counter* const end = counters_.data() + sku.end;
  if (sku.end - sku.begin <= kFewCounters) {
    std::for_each(begin, end, call);
    return;
  }
  const auto visit = [&](BookId wanted) {
    Counter* found = std::lower_bound(
        begin, end, wanted,
        [](const Counter& counter, const BookId& one) { return counter.action < one; });
    if (found != end && found->action == wanted) call(*found);
  };
  visit(kNoAction);
  if (action != kNoAction) visit(action);
}

void LeftCounters::Count(const PurchaseLine& line) {
  const Sku* sku = Find(line.sku);
  if (sku == nullptr) return;
  ForEachConcerned(*sku, line.action, [&](Counter& counter) {
    if (Counts(counter, line)) counter.bought += line.qty;
  });
}

void LeftCounters::NoteTime(const PurchaseLine& line) {
  const Sku* sku = Find(line.sku);
  if (sku == nullptr || line.qty == 0) return;
  ForEachConcerned(*sku, line.action, [&](Counter& counter) {
    if (Counts(counter, line))
      counter.oldest_ms = std::min({counter.oldest_ms, line.ts_ms, now_ms_});
  });
}

void LeftCounters::Restart(BookId sku) {
  const Sku* found = Find(sku);
  for (size_t i = found->begin; i < found->end; ++i) counters_[i].bought = 0;
}

bool LeftCounters::Try(const PurchaseLine& line) {
  const Sku* sku = Find(line.sku);
  if (sku == nullptr) return true;
  bool fits = true;
  ForEachConcerned(*sku, line.action, [&](Counter& counter) {
    if (counter.action != kNoAction && counter.action != line.action) return;
    if (Counts(counter, line)) counter.trial += line.qty;
    if (counter.bought + counter.trial > counter.limit) fits = false;
  });
  return fits;
}

void LeftCounters::GiveUp() {
  for (Counter& counter : counters_) counter.trial = 0;
}

void LeftCounters::AppendLeft(BookId sku, const QuotaId& name, const TextDictionary* texts,
                              QuotaLefts& out) const {
  out.BeginSku(name);
  const Sku* found = Find(sku);
  if (found == nullptr || found->begin == found->end) {
    out.Add(kNoAction, kUnlimited);
    return;
  }
  size_t text_actions = 0;
  for (size_t i = found->begin; i < found->end; ++i) {
    const Counter& counter = counters_[i];
    const int64_t left = LeftOf(counter);
    if (counter.action.is_text) [[unlikely]] {
      out.Add(QuotaId::Text(texts->TextOf(counter.action.value)), left);
      ++text_actions;
    } else {
      out.Add(counter.action.value, left);
    }
  }
  if (text_actions > 1) out.SortLastSku();
}

void LeftCounters::AppendUses(BookId sku, const TextDictionary* texts,
                              std::vector<QuotaUse>& out) const {
  const Sku* found = Find(sku);
  if (found == nullptr) return;
  const auto begin = static_cast<ptrdiff_t>(out.size());
  for (size_t i = found->begin; i < found->end; ++i) {
    const Counter& counter = counters_[i];
    const BookId action = counter.action;
    const QuotaId name =
        action.is_text ? QuotaId::Text(texts->TextOf(action.value)) : QuotaId(action.value);
    // What lies after now is read as now.
    const int64_t oldest_ms = std::min(counter.oldest_ms, now_ms_);
    out.push_back({name, static_cast<int32_t>(counter.limit), counter.window_ms, counter.bought,
                   LeftOf(counter),
                   counter.bought == 0 ? 0 : SaturatingAdd(oldest_ms, counter.window_ms)});
  }
  std::sort(out.begin() + begin, out.end(),
            [](const QuotaUse& a, const QuotaUse& b) { return a.action < b.action; });
}

size_t LeftCounters::LimitsOf(BookId sku) const {
  const Sku* found = Find(sku);
  return found == nullptr ? 0 : found->end - found->begin;
}

}  // namespace tally
