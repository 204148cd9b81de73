// What is known of each day: who was active, who was new, and the peak; and of each minute, the
// most that were online.
#pragma once

#include <absl/container/btree_map.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <roaring/roaring.hh>
#include <string>
#include <string_view>

namespace tally {

// Days are numbered from 1970-01-01 in the zone of whoever uses this, numbers of ids from 1.
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

  // Null for a day of which nothing is known.
  const Day* Find(int32_t day) const;
  // The day, for changing; null if it is before the first that is kept.
  Day* Kept(int32_t day);
  // Forgets the days before `first`, and does not take them any more.
  void KeepFrom(int32_t first);
  // Distinct ids active on any of the days. O(containers of the bitmaps).
  uint64_t UsersBetween(int32_t from, int32_t to) const;

  // `online` ids at an instant of `minute`, which is not before those noted already.
  void NoteOnline(int64_t minute, uint32_t online);
  void KeepMinutesFrom(int64_t first);
  // The most at any time that was noted of the minutes [from, to). O(log minutes + minutes).
  uint32_t MostBetween(int64_t from, int64_t to) const;

  size_t MemoryBytes() const;
  // Frees one day at least; true when nothing is left.
  bool FreeSome();

  // Saves as ActiveSet does: from a cursor on, 0 begins and 0 ends.
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
