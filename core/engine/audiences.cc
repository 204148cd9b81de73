#include "core/engine/audiences.h"

#include <memory>
#include <utility>

namespace tally {
namespace {

ActiveSet* SetOf(const Keyspace::Entry& entry, KeyOutcome& outcome) {
  outcome.found = static_cast<bool>(entry);
  outcome.wrong_type = outcome.found && entry.type() != Type::kActive;
  return outcome.found && !outcome.wrong_type ? &entry.heap<ActiveSet>() : nullptr;
}

ActiveSet& NewSet(const Place& place, std::string_view key, ActiveOptions options) {
  auto set = std::make_unique<ActiveSet>(place.engine.seed(), std::move(options));
  return place.keyspace().SetHeap(key, set.release(), kNoDeadline, place.now_ms);
}

}  // namespace

KeyOutcome Audiences::Create(std::string_view key, ActiveOptions options) {
  KeyOutcome outcome;
  SetOf(place_.keyspace().FindForWrite(key, place_.now_ms), outcome);
  if (outcome.found) return outcome;
  NewSet(place_, key, std::move(options));
  outcome.changed = true;
  return outcome;
}

Audiences::Touched Audiences::Touch(std::string_view key, std::span<const std::string_view> ids,
                                    EventInstants time, std::optional<int64_t> forget_at_ms) {
  Touched touched;
  ActiveSet* set = SetOf(place_.keyspace().FindForWrite(key, place_.now_ms), touched);
  if (touched.wrong_type) return touched;
  if (set != nullptr && set->options().zone.is_missing() && !place_.replaying) {
    touched.refusal = Refusal::kMissingZone;
    return touched;
  }
  if (set == nullptr) set = &NewSet(place_, key, ActiveOptions());
  if (ids.size() > IdBook::kMaxNumber - set->last_number()) {
    touched.refusal = Refusal::kNoNumbers;
    return touched;
  }
  touched.online =
      set->Touch(ids, time.at_ms, time.judged_at_ms, forget_at_ms.value_or(place_.forget_at_ms()));
  touched.changed = true;
  return touched;
}

Audiences::Altered Audiences::Alter(std::string_view key, const Change& change) {
  Altered altered;
  ActiveSet* set = SetOf(place_.keyspace().FindForWrite(key, place_.now_ms), altered);
  if (set == nullptr) return altered;
  const ActiveOptions& options = set->options();
  altered.missing_zone = options.zone.is_missing() && !place_.replaying;
  if (altered.missing_zone) return altered;
  set->Alter(change.window_ms.value_or(options.window_ms), change.keep_ms.value_or(options.keep_ms),
             change.judged_at_ms, change.forget_at_ms);
  altered.changed = true;
  return altered;
}

KeyOutcome Audiences::Forget(std::string_view key, std::span<const std::string_view> ids,
                             int64_t& forgotten) {
  KeyOutcome outcome;
  ActiveSet* set = SetOf(place_.keyspace().FindForWrite(key, place_.now_ms), outcome);
  forgotten = 0;
  if (set == nullptr) return outcome;
  for (const std::string_view id : ids) forgotten += set->Forget(id) ? 1 : 0;
  outcome.changed = forgotten > 0;
  return outcome;
}

ActiveSet* Audiences::Find(std::string_view key, KeyOutcome& outcome) {
  return SetOf(place_.keyspace().Find(key, place_.now_ms), outcome);
}

}  // namespace tally
