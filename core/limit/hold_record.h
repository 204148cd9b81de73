// What a key remembers of an id: a hold, or how the hold or the hit of that id ended.
#pragma once

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/limit/hold_rules.h"

namespace tally {

// An id is remembered for this long after the deadline of its hold, so that a retry finds it.
inline constexpr int64_t kHoldRememberedMs = 600'000;
// A settled id is forgotten at a multiple of this, so that the instant takes four bytes.
inline constexpr int64_t kForgetStepMs = 10'000;
// The first such instant from `instant_ms` on, which is at least 1.
inline int64_t ForgottenFrom(int64_t instant_ms) {
  return std::min((instant_ms - 1) / kForgetStepMs + 1, kMaxHoldEndMs / kForgetStepMs) *
         kForgetStepMs;
}
inline int64_t RememberedUntil(int64_t deadline_ms) {
  return ForgottenFrom(deadline_ms + kHoldRememberedMs);
}

// The numbers are in stored state and in replies: never renumber.
enum class HoldState : uint8_t {
  kUnknown = 0,
  kHeld = 1,
  kCommitted = 2,
  kExpired = 3,
  kCancelled = 4
};

// Where one counter has counted what is held.
struct HoldShare {
  int64_t at_ms = 0;  // the instant that was counted
  // BASE: how much of it the window has counted; the day has all of it. BUCKET: as much as the part
  // had at first, less what was given back.
  int64_t in_window = 0;

  friend bool operator==(const HoldShare&, const HoldShare&) = default;
};

// What one call took for a hold.
struct HoldPart {
  int64_t cost = 0;
  int64_t at_ms = 0;
  absl::InlinedVector<HoldShare, 2> shares;  // of each counter of the rules, in their order

  // The latest instant in it: a late part is counted in a log as of the log's newest hit.
  int64_t latest_at_ms() const {
    int64_t latest_ms = at_ms;
    for (const HoldShare& share : shares) latest_ms = std::max(latest_ms, share.at_ms);
    return latest_ms;
  }
  friend bool operator==(const HoldPart&, const HoldPart&) = default;
};

struct HoldRecord {
  HoldState state = HoldState::kUnknown;
  int64_t until_ms = 0;  // kHeld: the deadline. Otherwise: when it is forgotten (ForgottenFrom)
  int64_t keys = 1;      // how many keys hold the id
  // kHeld only.
  int64_t token = 0;
  absl::InlinedVector<HoldPart, 1> parts;
  std::string rules;      // their saved form; also kept of what expired or was cancelled
  HoldCounters counters;  // of the rules
  // What was held and what was counted when it was settled; of a hold, what was counted so far.
  int64_t held = 0;
  int64_t counted = 0;

  int64_t cost() const {
    int64_t sum = 0;
    for (const HoldPart& part : parts) sum += part.cost;
    return sum;
  }
  friend bool operator==(const HoldRecord&, const HoldRecord&) = default;
};

// A record as it is stored. Most are written without memory from the heap.
class HoldBytes {
 public:
  explicit HoldBytes(const HoldRecord& record);
  HoldBytes(const HoldBytes&) = delete;
  HoldBytes& operator=(const HoldBytes&) = delete;

  std::string_view view() const { return view_; }

 private:
  static constexpr size_t kFew = 256;

  char few_[kFew];
  std::unique_ptr<char[]> many_;  // if they may be more than few
  std::string_view view_;
};
// Reads all of `in` into a new record. False if it is malformed.
[[nodiscard]] bool ReadHoldRecord(std::string_view in, HoldRecord& record);

// These are of well-formed records.
//
// Reads a record as ReadHoldRecord does.
void ReadStoredHold(std::string_view in, HoldCountersReader& counters, HoldRecord& record);
// Whether it is held, and when the record ends: HoldRecord::until.
bool IsHeld(std::string_view in);
int64_t UntilOf(std::string_view in);
// Makes the record of a hold that of one that has expired at its deadline. It changes one byte,
// because one call may end all holds of a key.
void Expire(char* record);

// A hold as it lies in memory, read without a copy.
class HoldView {
 public:
  explicit HoldView(std::string_view in) : HoldView(in, UntilOf(in)) {}
  // The same for who has read UntilOf already.
  HoldView(std::string_view in, int64_t deadline_ms);

  int64_t deadline_ms() const { return deadline_ms_; }
  int64_t cost() const { return cost_; }
  // The instant of what was taken last.
  int64_t newest_at_ms() const { return newest_at_ms_; }
  std::string_view rules() const { return rules_; }
  // Calls visit(counter, cost, share) for what each part has counted; `counter` is the number of
  // the counter among those of the rules.
  template <typename Visit>
  void ForEachShare(Visit&& visit) const {
    if (is_simple_) [[likely]] {
      const HoldShare share{newest_at_ms_, cost_};
      for (uint64_t i = 0; i < parts_.shares; ++i) visit(static_cast<size_t>(i), cost_, share);
      return;
    }
    PartReader parts = parts_;
    for (uint64_t part = 0; part < parts.parts; ++part) {
      parts.BeginPart();
      for (uint64_t i = 0; i < parts.shares; ++i)
        visit(static_cast<size_t>(i), parts.cost, parts.Share());
    }
  }

 private:
  // Reads the parts one after the other.
  struct PartReader {
    std::string_view in;
    int64_t deadline_ms = 0;
    uint64_t parts = 1;
    uint64_t shares = 0;
    bool plain = false;
    int64_t cost = 0;  // of the part that was begun
    int64_t at_ms = 0;

    void BeginPart();
    HoldShare Share();
  };

  int64_t deadline_ms_ = 0;
  int64_t cost_ = 0;
  int64_t newest_at_ms_ = 0;
  PartReader parts_;
  bool is_simple_ = false;  // one part, and all its shares are the same
  std::string_view rules_;
};

}  // namespace tally
