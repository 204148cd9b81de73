// Figures by day and by minute: for each day, which ids were active, how many were new, and the
// peak; for each minute, the most ids that were online.
#pragma once

#include <absl/container/btree_map.h>

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
    int64_t fresh = 0;  // ids first seen that day
    uint32_t peak = 0;
    int64_t peak_at = 0;
  };
  struct Minute {
    int64_t minute;  // since 1970
    uint32_t most;
  };

  // Returns null if nothing is known about the day.
  const Day* Find(int32_t day) const;
  // Returns the day to be changed, created if needed; null if it is before the first day kept.
  Day* Kept(int32_t day);
  // Drops the days before `first`; from then on Kept() returns null for them.
  void KeepFrom(int32_t first);
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

  // Saves as ActiveSet::Save does: appends a run from `cursor` on; 0 begins and 0 ends.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  [[nodiscard]] bool Load(std::string_view run, uint32_t last_number);

 private:
  void AppendDay(std::string& out, int32_t number, const Day& day, uint32_t& from,
                 size_t max_bytes) const;
  bool LoadDay(std::string_view& run, uint32_t last_number);
  bool LoadMinutes(std::string_view& run);

  absl::btree_map<int32_t, Day> days_;
  std::deque<Minute> minutes_;
  int32_t first_day_ = INT32_MIN;
};

}  // namespace tally
