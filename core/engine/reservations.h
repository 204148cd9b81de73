// Reservations over the limits of several keys: all or nothing.
//
// The effect of a call that has changed something is the same call with its `judged_at_ms`: a
// replay does not judge it again. A call that has only settled holds that had ended has the effect
// of LIMIT.TAKE of no hits.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/decisions.h"
#include "core/engine/limits.h"
#include "core/engine/place.h"
#include "core/limit/reservation.h"

namespace tally {

struct HoldRequest {
  std::string_view id;  // 1 to Holds::kMaxIdBytes bytes
  int64_t ttl_ms = 0;   // at most kMaxHoldMs
  LimitRequest limits;  // the cost is at least 1, without ONCE
};

struct HoldResult : LimitResult {
  // The id is settled, and how: nothing was decided.
  HoldState settled_as = HoldState::kUnknown;
  int64_t token = 0;  // of the first key; 0 if denied
  // The hold would be longer than HOLDS allows, which is this long from now; or else -1.
  int64_t longest_ms = -1;
};

struct CommitRequest {
  std::string_view id;
  std::span<const KeyRules> keys;  // without rules
  std::optional<int64_t> cost;     // what was held if none is given
  bool late = false;
  bool keep = false;
  bool force = false;
  int64_t max_holds = INT64_MAX;
};

struct SettleResult : LimitResult {
  Settled settled;  // of the first key
};

struct HeldShown {
  std::string id;
  int64_t cost = 0;
  int64_t at_ms = 0;
  int64_t deadline_ms = 0;
  int64_t token = 0;
};

class Reservations {
 public:
  explicit Reservations(const Place& place) : place_(place) {}

  // Takes the cost under all rules of all keys and holds it, or does nothing. An id that is held by
  // the same call is not held twice.
  HoldResult Reserve(const HoldRequest& request);
  // Holds an id longer; `request.limits` has its keys, without rules, and what to hold in addition.
  HoldResult Extend(const HoldRequest& request);
  SettleResult Commit(const CommitRequest& request, int64_t now_ms);
  SettleResult Cancel(std::string_view id, std::span<const KeyRules> keys, int64_t now_ms);
  // What the key holds, by token.
  KeyOutcome Held(std::string_view key, std::vector<HeldShown>& held);

 private:
  bool Judge(LimitStates& states, const HoldRequest& request, HoldResult& result);
  void JudgeMore(std::span<const LimitUse> uses, const HoldRequest& request, const HoldRecord& held,
                 HoldResult& result);
  void Count(uint64_t Decisions::HoldCount::* count) const;

  Place place_;
};

}  // namespace tally
