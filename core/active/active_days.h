// Figures by day and by minute: for each day, which ids were active, how many were new, and the
// peak; for each minute, the most ids that were online.
#pragma once

#include <absl/container/btree_map.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <roaring/roaring.hh>
#include <string>
#include <string_view>

namespace tally {

// Days are numbered from 1970-01-01 in the caller's time zone; ids are numbers from 1 on.
class ActiveDays {
 public:
  struct Day {
    Roaring active;
    uint32_t fresh = 0;  // ids first seen that day
    uint32_t peak = 0;
    int64_t peak_at_ms = 0;

    void AddFresh(uint32_t ids) { fresh += std::min(ids, UINT32_MAX - fresh); }
    // A loaded figure may be too low for what follows.
    void RemoveFresh() { fresh -= fresh > 0 ? 1 : 0; }
    void NotePeak(uint32_t online, int64_t at_ms);
  };
  struct Minute {
    int64_t minute;  // since 1970
    uint32_t most;
  };

  // Calls visit(day) for what is known of the days [from, to], in their order.
  template <typename Visit>
  void ForEach(int32_t from, int32_t to, Visit&& visit) const {
    auto day = days_.lower_bound(from);
    for (; day != days_.end() && day->first <= to; ++day) visit(day->second);
  }
  // Returns the day to be changed, created if needed; null if it is before the first day kept.
  Day* Kept(int32_t day);
  // Drops the days before `first`; from then on Kept() returns null for them.
  void KeepFrom(int32_t first);
  int32_t first_day() const { return first_day_; }
  // The clock was set back to `at_ms`, which is in `minute` and in the day `today`. What was noted
  // of later days and minutes becomes that of `at_ms`. If `today` was dropped already, it is kept
  // again, and nothing of it is known.
  void SetDaysBack(int32_t today, int64_t at_ms);
  void SetMinutesBack(int64_t minute);
  // Counts the distinct ids active on any day of [from, to]. O(containers of the bitmaps).
  uint64_t UsersBetween(int32_t from, int32_t to) const;

  // Notes `online` ids at an instant of `minute`, which must not be before one noted already.
  void NoteOnline(int64_t minute, uint32_t online);
  void KeepMinutesFrom(int64_t first);
  // The most ids noted in the minutes [from, to), or 0. O(log minutes + minutes of the range).
  uint32_t MostBetween(int64_t from, int64_t to) const;

  size_t MemoryBytes() const;
  // Frees all minutes and one day; returns true when nothing is left.
  bool FreeSome();

  // Saves as ActiveSet::Save does: appends a run from `cursor` on; 0 begins and 0 ends. first_day()
  // is not in the runs.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Returns false if the run is malformed, or has a number or a minute after these last ones.
  [[nodiscard]] bool Load(std::string_view run, uint32_t last_number, int64_t last_minute);

 private:
  void AppendDay(std::string& out, int32_t number, const Day& day, uint32_t& from,
                 size_t max_bytes) const;
  bool LoadDay(std::string_view& run, uint32_t last_number);
  bool LoadMinutes(std::string_view& run, int64_t last_minute);

  absl::btree_map<int32_t, Day> days_;
  std::deque<Minute> minutes_;
  int32_t first_day_ = INT32_MIN;
};

}  // namespace tally
