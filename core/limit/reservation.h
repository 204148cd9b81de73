// Reservations on the limits of one key: what is held is counted at once, as a hit is, and given
// back when the hold is cancelled, is committed with less, or ends.
//
// What is given back is taken from exactly the counters that counted it: a window that is over
// keeps its hits, a log loses hits of that instant, a bucket gets its tokens back, at most those
// that are missing.
//
// A hold ends at its deadline for whoever looks later: each operation on a key settles first what
// has ended, so that no timer and no sweep is needed.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "core/limit/holds.h"
#include "core/limit/limit.h"
#include "core/limit/limit_state.h"
#include "core/time/zone_source.h"

namespace tally {

// Settles the holds that have ended at `now_ms`, and forgets the settled ids whose time is over. If
// the clock was set back, holds begin at `now_ms` at the latest, and end as much earlier. Must come
// before anything else is done with a state that has holds. Returns whether anything has changed.
// If `ended` is given, it grows by how many holds have ended.
bool SettleHolds(LimitState& state, ZoneSource& zones, int64_t now_ms, uint64_t* ended = nullptr);

// Whether SettleHolds would change anything. O(1).
inline bool HasEndedHolds(const LimitState& state, int64_t now_ms) {
  const Holds* holds = state.holds();
  return holds != nullptr && (holds->MayHaveEnded(now_ms) || holds->IsAhead(now_ms));
}

struct HoldTerms {
  std::string_view id;
  int64_t cost = 1;
  int64_t deadline_ms = 0;
  int64_t keys = 1;  // how many keys get the hold
};

// Counts `terms.cost` under the rules, whatever they say, and holds it. The id is not in the state.
// Returns the token.
int64_t HoldHits(const LimitUse& use, const HoldTerms& terms, HoldCountersReader& counters,
                 int64_t now_ms, int64_t at_ms);

// What follows changes `found`, which is what the state has under the id: kUnknown if nothing.

// Holds `more` in addition, and until `deadline_ms` if that is later. The id is held.
void ExtendHold(LimitState& state, ZoneSource& zones, std::string_view id, HoldRecord& found,
                int64_t more, int64_t deadline_ms, int64_t now_ms);

struct CommitTerms {
  std::string_view id;
  int64_t counted = 0;
  bool late = false;   // count at `now_ms`, not at the instant of the hold
  bool keep = false;   // hold the rest
  bool force = false;  // count what is not held any more
  int64_t keys = 1;    // how many keys are told so
};

// What a call found and did: the id's state before it, what was held, and what was counted.
struct Settled {
  HoldState found = HoldState::kUnknown;
  bool done = false;  // by this call
  int64_t held = 0;
  int64_t counted = 0;
};

Settled CommitHold(LimitState& state, ZoneSource& zones, const CommitTerms& terms,
                   HoldRecord& found, int64_t now_ms);
Settled CancelHold(LimitState& state, std::string_view id, HoldRecord& found, int64_t now_ms);

// Remembers the id of a hit that was counted: while the hit can count under the rules, and for at
// least Holds::kRememberedMs.
void RememberHit(const LimitUse& use, const HoldTerms& terms, int64_t now_ms);

}  // namespace tally
