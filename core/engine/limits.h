// LIMIT: may this happen now, under all the rules of all the keys.
//
// If a decision has counted hits, its effect is the same request with the same `at` and
// `judged_at_ms`, passed to Count, or to Force if that was called. It can be replayed at any later
// time: the hits are counted without being judged again. If it has only set counters back, the
// effect is a Count of no hits.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/engine/decisions.h"
#include "core/engine/place.h"
#include "core/limit/limit.h"
#include "core/limit/limit_show.h"
#include "core/limit/throttle.h"

namespace tally {

struct LimitRequest {
  std::span<const KeyRules> keys;  // a key may be named several times
  int64_t cost = 1;                // >= 0; 0 only asks, and counts nothing
  EventInstants time;
  // If it is not empty, what is taken is remembered under this id of up to Holds::kMaxIdBytes
  // bytes, and a retry takes nothing more. Not for Peek.
  std::string_view once = {};
  int64_t max_holds = INT64_MAX;  // ids that a key may have
  // What a decision of kTake is counted as.
  Decisions::Command command = Decisions::Command::kTake;
};

struct LimitResult {
  struct Key : KeyOutcome {
    std::string_view name;
  };

  LimitDecision decision;
  bool wrong_type = false;           // some key holds another type: nothing was decided
  std::string_view wrong = {};       // what is wrong, if nothing was decided; otherwise empty
  bool full = false;                 // some key would get too many counters: nothing was decided
  bool counted = false;              // hits were counted, so there is an effect
  bool set_back = false;             // counters were only set back (SetBackLimits): an effect too
  absl::InlinedVector<Key, 2> keys;  // each key once, in the order of the request
};

class LimitStates;

class Limits {
 public:
  // A key has one counter for each combination of algorithm and period that its rules had and that
  // still counts. No decision but a replayed one gives a key more than about this many.
  static constexpr size_t kMaxCounters = 1'000;

  explicit Limits(const Place& place) : place_(place) {}

  // Runs DecideLimits on the states of the keys and costs as it does; each distinct key is looked
  // up once (or twice, if it has holds), and its name is compared with those before it.
  LimitResult Decide(const LimitRequest& request, LimitMode mode);
  LimitResult Take(const LimitRequest& request) { return Decide(request, LimitMode::kTake); }
  // The same for one key, at the place's instant.
  LimitResult Take(std::string_view key, std::span<const LimitRule> rules) {
    const KeyRules keys[] = {{key, rules}};
    return Take({.keys = keys, .time = EventInstants::Now(place_.now_ms)});
  }
  LimitResult Peek(const LimitRequest& request) { return Decide(request, LimitMode::kPeek); }
  LimitResult Force(const LimitRequest& request) { return Decide(request, LimitMode::kForce); }
  // Counts what was taken without asking whether it fits, for a replay.
  LimitResult Count(const LimitRequest& request) { return Decide(request, LimitMode::kCount); }

  // Refunds `count` hits, never more than are counted: of the hits at or before `not_after_ms`, the
  // newest first. See LimitState::Give. Nothing changes if `count` is 0.
  KeyOutcome Give(std::string_view key, int64_t count, int64_t judged_at_ms, int64_t not_after_ms);
  KeyOutcome Reset(std::string_view key);
  // Sets `shown` to what the key's limits have counted; see ShowLimits.
  KeyOutcome Show(std::string_view key, std::vector<LimitShown>& shown);

  // Decides as redis-cell does. `rule` must come from ThrottleRule(). The outcome has changed also
  // if the reply is limited, when the counter was only set back: the effect is then a Count of no
  // hits.
  KeyOutcome Throttle(std::string_view key, const LimitRule& rule, int64_t quantity,
                      ThrottleReply& reply);

 private:
  // Decide() with kTake for one key without an id, if the key has no holds and no rule is in
  // SHADOW. False if it is another case, with nothing done. Nearly all calls are of this kind, and
  // go without the lists of LimitStates, which are 4% of the instructions of a LIMIT.TAKE.
  bool DecideAlone(const LimitRequest& request, LimitResult& result);

  Place place_;
};

}  // namespace tally
