// Who is online, the peak, and who was new and active on each day: exact, without a periodic pass
// over the ids.
//
// An id gets a dense number once and keeps it. Its last-seen instant is that of its latest event,
// its first-seen instant that of its earliest. It is online at t iff t - window < last seen.
//
// Events may come late; an event after now is one of now. At every event, and where a day begins,
// the set evaluates how many ids are online, at one instant: the latest that any event has had so
// far. For events in order this is the event's own instant. A late event is evaluated with what is
// known then: it can raise the number at the latest instant, never that of an earlier one. It
// counts for its own day: as active, and as new if no earlier event of the id is known.
//
// The clock may be set back. Then all that lies after it is read as of now, and the next event
// makes it so for good. So a clock that ran ahead for a moment takes nothing from the days to come.
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
#include "core/bytes/run_sink.h"
#include "core/time/calendar.h"
#include "core/time/duration.h"
#include "core/time/zone_source.h"

namespace tally {

struct ActiveOptions {
  // A window bounds the work of one event, which may have to note every minute of it.
  static constexpr int64_t kMaxWindowMs = int64_t{31} * kDayMs;
  static constexpr int64_t kMaxKeepMs = int64_t{3'660} * kDayMs;

  int64_t window_ms = 300'000;
  // How long days and minutes are kept; ids are kept for ever.
  int64_t keep_ms = int64_t{30} * kDayMs;
  Zone zone;
};

// Instants are in [0, kMaxInstantMs]. Ids do not expire: an id keeps its number until Forget().
class ActiveSet {
 public:
  static constexpr Type kType = Type::kActive;
  static constexpr size_t kMaxSeriesSteps = 100'000;
  static constexpr int64_t kMinuteMs = 60'000;

  // Asserts that window and keep are above 0 and at most the maxima above.
  ActiveSet(uint64_t seed, ActiveOptions options);
  explicit ActiveSet(uint64_t seed) : ActiveSet(seed, ActiveOptions()) {}
  // For an empty set that Load() fills: the runs name a zone, which is looked up in `zones`.
  ActiveSet(uint64_t seed, ZoneSource& zones) : ActiveSet(seed) { zones_ = &zones; }

  const ActiveOptions& options() const { return options_; }

  // Notes an event of each id at `at_ms`, or at `now_ms` if that is earlier. Returns how many ids
  // are online at `now_ms`. Days and minutes that are too old at the latest event, and at
  // `forget_at_ms` if that is earlier, are deleted. An id has at most IdBook::kMaxIdBytes. O(1) an
  // id; if the latest event is before `now_ms`, also O(seconds since it), at most the window's; if
  // it is after `now_ms`, because the clock was set back, O(size).
  uint32_t Touch(std::span<const std::string_view> ids, int64_t at_ms, int64_t now_ms,
                 int64_t forget_at_ms = INT64_MAX);

  // Changes the window and the time to keep days from `now_ms` on. What falls out of a shorter one
  // counts no more; of a longer one what is still known counts. What was noted until now stays.
  // Asserts as the constructor does. O(seconds since the latest event), at most the window's;
  // O(ids) for a longer window, and as Touch() after the clock was set back.
  void Alter(int64_t window_ms, int64_t keep_ms, int64_t now_ms, int64_t forget_at_ms = INT64_MAX);

  // Whether some event was after `now_ms`.
  bool IsAhead(int64_t now_ms) const { return latest_ms_ > now_ms; }

  // Counts the ids online at `at_ms`, which is not after now. O(seconds since the last event), at
  // most the window's; O(ids) for instants before that event.
  uint32_t Online(int64_t at_ms) const;

  struct Sighting {
    uint32_t number = 0;
    int64_t last_seen_ms = 0;
    int64_t first_seen_ms = 0;
  };
  std::optional<Sighting> Seen(std::string_view id, int64_t now_ms) const;
  bool IsOnline(const Sighting& sighting, int64_t at_ms) const {
    return sighting.last_seen_ms > at_ms - options_.window_ms;
  }

  struct DayFigures {
    uint64_t active = 0;
    int64_t fresh = 0;
    uint32_t peak = 0;
    int64_t peak_at_ms = 0;  // the first instant of the peak; 0 if there was none
  };
  // Days are numbered as by Zone::DayOf. The figures of each day of [from, to]; zeros for a day of
  // which nothing is known (any more).
  std::vector<DayFigures> Days(int32_t from, int32_t to, int64_t now_ms);
  DayFigures DayOf(int32_t day, int64_t now_ms) { return Days(day, day, now_ms).front(); }
  int32_t DayNumber(int64_t at_ms) { return options_.zone.DayOf(at_ms); }
  // Distinct ids active on any day of [from, to].
  uint64_t UsersBetween(int32_t from, int32_t to, int64_t now_ms);

  // Returns, for each step of [from, to), the instant at which it begins and the most ids that were
  // online at once in it, also between events. Figures are kept by the minute: `from` is rounded
  // down to a whole minute, and `step_ms` must be a multiple of kMinuteMs (asserted). At most
  // kMaxSeriesSteps steps. O(steps + minutes + seconds of the window).
  std::vector<std::pair<int64_t, uint32_t>> Series(int64_t from_ms, int64_t to_ms, int64_t step_ms,
                                                   int64_t now_ms) const;

  // Calls visit(id, sighting) for the ids among the next `count` numbers after `cursor`, which is 0
  // at first. Returns the next cursor, 0 at the end. An id that is in the set all the time is
  // visited exactly once.
  template <typename Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit&& visit) const {
    for (; count > 0 && cursor < ids_.last_number(); --count) {
      const auto number = static_cast<uint32_t>(++cursor);
      if (!forgotten_.contains(number)) visit(ids_.IdOf(number), SightingOf(number));
    }
    return cursor < ids_.last_number() ? cursor : 0;
  }

  // Removes the id. Its number is not given to another id, and the figures of past days and minutes
  // stay as they are. Returns false if the id is not known.
  bool Forget(std::string_view id);

  uint32_t size() const { return ids_.size(); }
  // The highest number given.
  uint32_t last_number() const { return ids_.last_number(); }
  size_t Weight() const { return ids_.last_number(); }
  size_t MemoryBytes() const;
  static constexpr std::string_view encoding() { return "dense"; }
  // O(size), by copying its blocks.
  std::unique_ptr<ActiveSet> Clone() const;
  // Frees about `budget` ids; returns true when nothing is left. The set may then only be freed
  // further or destroyed.
  bool FreeSome(size_t budget);
  // Appends a self-contained run of about `max_bytes`, from `cursor` on (0 begins). Returns the
  // next cursor, 0 at the end. The runs must be loaded in the order in which they were saved.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Loads one run. Returns false if it is malformed; the set may then only be destroyed.
  [[nodiscard]] bool Load(std::string_view run);

  // For ValueOperations (core/keyspace/value.h); the runs have the form of those of Save().
  bool BeginSnapshot(const RunSink& sink);
  bool SaveSnapshot();
  void EndSnapshot() { snapshot_ = nullptr; }

 private:
  ActiveSet(const ActiveSet& other);
  Sighting SightingOf(uint32_t number) const {
    return {number, last_seen_.Get(number), first_seen_.Get(number)};
  }
  // Notes what the minutes and days between the latest event and `at_ms` began with, and forgets
  // what is too old at `forget_at_ms`.
  void AdvanceTo(int64_t at_ms, int64_t forget_at_ms);
  void NoteDayBegins(int64_t at_ms);
  // Makes everything that lies after `now_ms` be of `now_ms`.
  void SetBack(int64_t now_ms);
  // Days and minutes before these are too old at `now_ms` for any answer.
  int32_t FirstDayShown(int64_t now_ms);
  int64_t FirstMinuteShown(int64_t now_ms) const;
  // Makes the window anew from the instants of the ids.
  void FillWindow();
  void TouchNew(std::string_view id, int64_t at_ms, int32_t day);
  void TouchKnown(uint32_t number, int64_t at_ms, int32_t day);
  void NoteOnline();
  void NotePeak(int64_t at_ms, uint32_t online);
  void SaveHead(std::string& out) const;
  // `snapshot` is null to save the present state.
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
  bool has_head_ = false;  // of runs that are loaded
  ActiveOptions options_;
  IdBook ids_;
  TimeColumn last_seen_;
  TimeColumn first_seen_;
  Roaring forgotten_;
  OnlineWindow online_;
  ActiveDays days_;
  // The latest instant of any event: online was evaluated at it last.
  int64_t latest_ms_ = 0;
  std::unique_ptr<ActiveSnapshot> snapshot_;
};

}  // namespace tally
