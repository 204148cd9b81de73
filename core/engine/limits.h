// LIMIT: may this happen now, under all the rules of all the keys.
//
// The effect of a decision that has counted is the same request given to Force, with the same `at`
// and `judged_at`, at any later time: the hits are counted again without being judged again.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/engine/place.h"
#include "core/limit/limit.h"
#include "core/limit/limit_show.h"

namespace tally {

struct LimitRequest {
  std::span<const KeyRules> keys;  // a key may be named several times
  int64_t cost = 1;                // >= 0; 0 only asks, and counts nothing
  EventInstants time;
};

struct LimitResult {
  struct Key : KeyOutcome {
    std::string_view name;
  };

  LimitDecision decision;
  bool wrong_type = false;           // of some key: nothing was decided
  bool counted = false;              // there is an effect
  absl::InlinedVector<Key, 2> keys;  // each once, in the order in which they were named
};

class Limits {
 public:
  explicit Limits(const Place& place) : place_(place) {}

  // DecideLimits on the states of the keys: O(rules), and the keys are found once each.
  LimitResult Decide(const LimitRequest& request, LimitMode mode);
  LimitResult Take(const LimitRequest& request) { return Decide(request, LimitMode::kTake); }
  LimitResult Peek(const LimitRequest& request) { return Decide(request, LimitMode::kPeek); }
  LimitResult Force(const LimitRequest& request) { return Decide(request, LimitMode::kForce); }
  // Counts what an older log says was taken: see limit_replay.h.
  LimitResult CountAsBefore(const LimitRequest& request);

  // Gives `count` hits back, the newest first of those not after `not_after`, never below empty.
  // Nothing changes if `count` is 0.
  KeyOutcome Give(std::string_view key, int64_t count, int64_t judged_at, int64_t not_after);
  KeyOutcome Reset(std::string_view key);
  // What the key's limits have counted.
  KeyOutcome Show(std::string_view key, std::vector<LimitShown>& shown);

  // As redis-cell does. `rule` is ThrottleRule's.
  KeyOutcome Throttle(std::string_view key, const LimitRule& rule, int64_t quantity,
                      ThrottleReply& reply);

 private:
  Place place_;
};

}  // namespace tally
