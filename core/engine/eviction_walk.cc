#include "core/engine/eviction_walk.h"

#include <algorithm>
#include <functional>

#include "core/keyspace/access.h"

namespace tally {
namespace {

constexpr size_t kOneIn = 16;

int64_t Urgency(const Keyspace::Entry& entry, EvictionRule::First first,
                const AccessTracking& tracking, int64_t now_ms) {
  switch (first) {
    case EvictionRule::First::kLeastRecent:
      return IdleSeconds(entry.access(), tracking.Passed(now_ms));
    case EvictionRule::First::kLeastFrequent:
      return -int64_t{FrequencyOf(entry.access(), tracking, tracking.Passed(now_ms))};
    case EvictionRule::First::kSoonestDue:
      return -entry.deadline_ms();
    case EvictionRule::First::kAny:
      break;
  }
  return 0;
}

}  // namespace

Keyspace::Segment* EvictionWalk::NextSegment(Keyspace& keyspace, const EvictionRule& rule) {
  if (!rule.only_with_deadline) {
    return keyspace.size() == 0 ? nullptr : keyspace.NextSegment(position_);
  }
  return keyspace.expires() == 0 ? nullptr : keyspace.NextDueSegment(due_position_);
}

void EvictionWalk::Choose(const Keyspace& keyspace, const EvictionRule& rule, int64_t now_ms,
                          Batch& batch) {
  candidates_.clear();
  keyspace.ForEach(*batch.segment, [&](const Keyspace::Entry& entry) {
    if (rule.only_with_deadline && entry.deadline_ms() == kNoDeadline) return;
    candidates_.emplace_back(Urgency(entry, rule.first, keyspace.access_tracking(), now_ms),
                             entry.key());
  });
  const size_t count = (candidates_.size() + kOneIn - 1) / kOneIn;
  const auto end = candidates_.begin() + static_cast<ptrdiff_t>(count);
  std::partial_sort(candidates_.begin(), end, candidates_.end(),
                    [](const auto& a, const auto& b) { return a.first > b.first; });
  batch.keys.clear();
  for (auto it = candidates_.begin(); it != end; ++it) batch.keys.emplace_back(it->second);
}

bool EvictionWalk::Next(Engine& engine, const EvictionRule& rule, int64_t now_ms, Batch& batch) {
  for (int rounds = 0; rounds < 2;) {
    if (database_ >= engine.databases()) {
      database_ = 0;
      ++rounds;
    }
    Keyspace& keyspace = engine.database(database_);
    batch.segment = NextSegment(keyspace, rule);
    if (batch.segment == nullptr) {
      ++database_;
      position_ = 0;
      due_position_ = {};
      continue;
    }
    batch.database = database_;
    Choose(keyspace, rule, now_ms, batch);
    if (!batch.keys.empty()) return true;
    if (rule.only_with_deadline) keyspace.NothingDue(*batch.segment);
  }
  return false;
}

}  // namespace tally
