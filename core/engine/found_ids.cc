#include "core/engine/found_ids.h"

#include <algorithm>
#include <array>

#include "core/base/prefetch.h"

namespace tally {

FoundIds::FoundIds(LimitStates& states, std::string_view id) {
  for (size_t i = 0; i < states.size(); ++i) {
    const Holds* holds = states.state(i).holds();
    HoldRecord& record = records.emplace_back();
    if (holds != nullptr) static_cast<void>(holds->Find(id, states.hold_counters(), record));
  }
}

void PrefetchIds(const Keyspace& keyspace, std::span<const KeyAndId> wanted) {
  struct Found {
    const LimitState* state;
    std::string_view id;
    uint64_t hash;
  };
  std::array<Found, RecordTable::kMaxPrefetch> places;
  size_t count = 0;
  for (const auto& [key, id] : wanted.first(std::min(wanted.size(), places.size()))) {
    const Keyspace::Entry entry = keyspace.Peek(key);
    if (!entry || entry.type() != LimitState::kType || !entry.is_heap()) continue;
    if (id.size() > Holds::kMaxIdBytes) continue;
    places[count++] = {&entry.heap<LimitState>(), id, 0};
    PrefetchBytes(places[count - 1].state, sizeof(LimitState));
  }
  const std::span<Found> found(places.data(), count);
  for (const Found& one : found) {
    if (one.state->holds() != nullptr) PrefetchBytes(one.state->holds(), sizeof(Holds));
  }
  for (Found& one : found) {
    const Holds* holds = one.state->holds();
    if (holds == nullptr) continue;
    one.hash = holds->Hash(one.id);
    holds->PrefetchSegment(one.hash);
  }
  for (const Found& one : found) {
    if (one.state->holds() != nullptr) one.state->holds()->PrefetchPlace(one.hash);
  }
}

bool HaveRoomForId(LimitStates& states, int64_t max_holds) {
  for (size_t i = 0; i < states.size(); ++i) {
    const Holds* holds = states.state(i).holds();
    const size_t size = holds == nullptr ? 0 : holds->size();
    if (static_cast<int64_t>(size) >= max_holds) return false;
  }
  return true;
}

LimitDecision AllowedNow(std::span<const LimitUse> uses, int64_t now_ms) {
  return DecideLimits(uses, 0, now_ms, now_ms, LimitMode::kShow);
}

}  // namespace tally
