#include "core/engine/hit_counters.h"

#include <algorithm>

#include "core/engine/scratch.h"
#include "core/keyspace/compact_value.h"

namespace tally {
namespace {

// A key's hits in the engine's scratch or on the heap.
class OpenHits {
 public:
  OpenHits(const Place& place, std::string_view key, bool for_write)
      : place_(place), key_(key), hits_(place.engine.scratch().hits) {
    Keyspace& keyspace = place.keyspace();
    const Keyspace::Entry entry =
        for_write ? keyspace.FindForWrite(key, place.now_ms) : keyspace.Find(key, place.now_ms);
    outcome.found = static_cast<bool>(entry);
    outcome.wrong_type = !hits_.Open(entry);
  }

  Hits* operator->() const { return &*hits_; }
  void Store() {
    outcome.changed = true;
    outcome.removed =
        hits_.Store(place_.keyspace(), key_, place_.now_ms, place_.engine.scratch().bytes);
  }

  KeyOutcome outcome;

 private:
  const Place& place_;
  std::string_view key_;
  CompactValue<Hits> hits_;
};

}  // namespace

HitCounters::Added HitCounters::Add(std::string_view key, const Addition& add,
                                    std::optional<int64_t>& in_window) {
  OpenHits hits(place_, key, true);
  if (hits.outcome.wrong_type) return {hits.outcome};
  const auto [at_ms, judged_at_ms] = add.time;
  const bool set_back = hits->SetBack(judged_at_ms);
  const bool in_time = add.cap || hits->IsInTime(at_ms, add.window_ms, judged_at_ms);
  in_window = hits->Add(add.count, add.window_ms, at_ms, judged_at_ms, add.cap);
  const bool kept = in_window && add.count > 0 && in_time;
  if (kept || set_back) hits.Store();
  return {hits.outcome, set_back && !kept};
}

KeyOutcome HitCounters::Count(std::string_view key, int64_t window_ms, EventInstants time,
                              int64_t& hits) {
  OpenHits open(place_, key, false);
  if (open.outcome.wrong_type) return open.outcome;
  hits = open->Count(window_ms == 0 ? open->window_ms() : window_ms, time.at_ms, time.judged_at_ms);
  return open.outcome;
}

KeyOutcome HitCounters::Undo(std::string_view key, int64_t count, int64_t judged_at_ms,
                             int64_t& left) {
  OpenHits hits(place_, key, true);
  if (hits.outcome.wrong_type) return hits.outcome;
  left = hits->Undo(count, judged_at_ms);
  if (hits.outcome.found && count > 0) hits.Store();
  return hits.outcome;
}

KeyOutcome HitCounters::Range(std::string_view key, int64_t from_ms, int64_t to_ms, int64_t step_ms,
                              std::vector<int64_t>& hits) {
  OpenHits open(place_, key, false);
  if (!open.outcome.wrong_type) hits = open->Range(from_ms, to_ms, step_ms, place_.now_ms);
  return open.outcome;
}

KeyOutcome HitCounters::Show(std::string_view key, HitsShown& shown) {
  OpenHits open(place_, key, false);
  if (open.outcome.wrong_type || !open.outcome.found) return open.outcome;
  shown = {.window_ms = open->window_ms(),
           .hits = open->Count(open->window_ms(), place_.now_ms, place_.now_ms),
           .newest_ms = std::min(open->newest_ms(), place_.now_ms),
           .ends_ms = open->ExpiresAt() - std::max<int64_t>(0, open->newest_ms() - place_.now_ms)};
  return open.outcome;
}

}  // namespace tally
