#include "core/engine/found_ids.h"

namespace tally {

FoundIds::FoundIds(LimitStates& states, std::string_view id) {
  for (size_t i = 0; i < states.size(); ++i) {
    const Holds* holds = states.state(i).holds();
    HoldRecord& record = records.emplace_back();
    if (holds != nullptr) static_cast<void>(holds->Find(id, states.hold_counters(), record));
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

LimitDecision AllowedNow(std::span<const LimitUse> uses, int64_t now) {
  return DecideLimits(uses, 0, now, now, LimitMode::kShow);
}

}  // namespace tally
