// Who is online, the peak, and who was new and active on each day: exact, without a sweep.
//
// An id gets a dense number once and keeps it. Its last seen is the latest of its events, its first
// seen the earliest. It is online at t iff t - window < last seen.
//
// Events may come late. Online is evaluated at every event, at the latest instant that any event
// has had so far (but not after the server's clock: an event from the future counts as one now).
// For events in order that is the event's own instant. A late event is evaluated with what is known
// then: it can raise the online of that latest instant, never that of the past. It counts for its
// own day (active, and new if no earlier event of the id is known).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/active/active_days.h"
#include "core/active/active_snapshot.h"
#include "core/active/id_book.h"
#include "core/active/online_window.h"
#include "core/active/time_column.h"
#include "core/base/type.h"
#include "core/time/calendar.h"
#include "core/time/zone_source.h"

namespace tally {

struct ActiveOptions {
  int64_t window_ms = 300'000;
  // How long days and minutes are kept; ids are kept for ever.
  int64_t keep_ms = int64_t{30} * 86'400'000;
  Zone zone;
};

// Instants are in [0, kMaxInstantMs]. Nothing in it expires: whoever has a number keeps it.
class ActiveSet {
 public:
  static constexpr Type kType = Type::kActive;
  static constexpr size_t kMaxSeriesSteps = 100'000;
  static constexpr int64_t kMinuteMs = 60'000;

  // window and keep in (0, kMaxDurationMs].
  ActiveSet(uint64_t seed, ActiveOptions options);
  explicit ActiveSet(uint64_t seed) : ActiveSet(seed, ActiveOptions()) {}
  // One to Load runs into, which name their zone.
  ActiveSet(uint64_t seed, ZoneSource& zones) : ActiveSet(seed) { zones_ = &zones; }

  const ActiveOptions& options() const { return options_; }

  // An event of each id at `at`; ids online at `now` (if the clock was set back, at the latest
  // instant that was evaluated). O(1) an id, of at most IdBook::kMaxIdBytes, and for late events
  // O(seconds since the latest one), at most the window's.
  uint32_t Touch(std::span<const std::string_view> ids, int64_t at, int64_t now);

  // Ids online at `at`. O(seconds since the last event), at most the window's; for instants before
  // that event O(ids).
  uint32_t Online(int64_t at) const;

  struct Sighting {
    uint32_t number = 0;
    int64_t last_seen = 0;
    int64_t first_seen = 0;
  };
  std::optional<Sighting> Seen(std::string_view id) const;
  bool IsOnline(const Sighting& sighting, int64_t at) const {
    return sighting.last_seen > at - options_.window_ms;
  }

  struct DayFigures {
    uint64_t active = 0;
    int64_t fresh = 0;
    uint32_t peak = 0;
    int64_t peak_at = 0;  // the first instant of the peak; 0 if there was none
  };
  // Days numbered as by Zone::DayOf; zeros for days of which nothing is known (any more).
  DayFigures DayOf(int32_t day) const;
  int32_t DayNumber(int64_t at) { return options_.zone.DayOf(at); }
  // Distinct ids active on any day of [from, to].
  uint64_t UsersBetween(int32_t from, int32_t to) const { return days_.UsersBetween(from, to); }

  // The most ids online at once in each step of [from, to), also between events, with the instant
  // at which the step begins. Kept by the minute: `from` is moved back to a minute's begin, and
  // `step_ms` is a multiple of kMinuteMs; at most kMaxSeriesSteps steps. O(steps + minutes).
  std::vector<std::pair<int64_t, uint32_t>> Series(int64_t from, int64_t to, int64_t step_ms,
                                                   int64_t now) const;

  // Calls visit(id, sighting) for the ids among the next `count` numbers after `cursor`; the next
  // cursor, 0 at the end. An id that is there throughout is shown exactly once.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit&& visit) const {
    for (; count > 0 && cursor < ids_.last_number(); --count) {
      const auto number = static_cast<uint32_t>(++cursor);
      if (!forgotten_.contains(number)) visit(ids_.IdOf(number), SightingOf(number));
    }
    return cursor < ids_.last_number() ? cursor : 0;
  }

  // The id is not known any more; its number is not given again, and what was counted of past days
  // and minutes stays. False if it was not known.
  bool Forget(std::string_view id);

  uint32_t size() const { return ids_.size(); }
  // The highest number given.
  uint32_t last_number() const { return ids_.last_number(); }
  size_t Weight() const { return ids_.last_number(); }
  size_t MemoryBytes() const;
  // O(size), by copying its blocks.
  std::unique_ptr<ActiveSet> Clone() const;
  // Frees about `budget` ids; true when nothing is left. Only to be destroyed afterwards.
  bool FreeSome(size_t budget);
  // A self-contained run of about `max_bytes` for Load, from `cursor` on: 0 begins; the result is
  // the next cursor, 0 at the end. Runs are loaded in their order.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Takes one run at a time. False if it is malformed; the set is then only good to be destroyed.
  [[nodiscard]] bool Load(std::string_view run);

  // What ValueOperations asks for: runs as those of Save.
  bool BeginSnapshot(const ActiveSnapshot::RunSink& sink);
  bool SaveSnapshot();
  void EndSnapshot() { snapshot_ = nullptr; }

 private:
  ActiveSet(const ActiveSet& other);
  Sighting SightingOf(uint32_t number) const {
    return {number, last_seen_.Get(number), first_seen_.Get(number)};
  }
  void AdvanceTo(int64_t now);
  // Drops the days that KEEP does not cover.
  void KeepDays();
  void TouchNew(std::string_view id, int64_t at, int32_t day);
  void TouchKnown(uint32_t number, int64_t at, int32_t day);
  void NoteOnline();
  void SaveHead(std::string& out) const;
  // `snapshot` is null to save what is there now.
  uint32_t SaveIds(uint32_t after, size_t max_bytes, const ActiveSnapshot* snapshot,
                   std::string& out) const;
  uint64_t Save(uint64_t cursor, size_t max_bytes, const ActiveSnapshot* snapshot,
                std::string& out) const;
  void BeforeChange(uint32_t number) {
    if (snapshot_ != nullptr) [[unlikely]]
      snapshot_->BeforeChange(number, {last_seen_.Get(number), first_seen_.Get(number)});
  }
  bool LoadHead(std::string_view& run);
  bool LoadIds(std::string_view& run);

  uint64_t seed_;
  ZoneSource* zones_ = nullptr;
  ActiveOptions options_;
  IdBook ids_;
  TimeColumn last_seen_;
  TimeColumn first_seen_;
  Roaring forgotten_;
  OnlineWindow online_;
  ActiveDays days_;
  // The latest instant of an event, and the one at which online was evaluated last.
  int64_t latest_ = 0;
  int64_t evaluated_ = 0;
  std::unique_ptr<ActiveSnapshot> snapshot_;
};

}  // namespace tally
