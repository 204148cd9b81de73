#include "core/active/active_days.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "core/bytes/varint.h"
#include "core/time/duration.h"

namespace tally {
namespace {

constexpr char kDayRun = 'd';
constexpr char kMinuteRun = 'm';

}  // namespace

void ActiveDays::Day::NotePeak(uint32_t online, int64_t at_ms) {
  if (online <= peak) return;
  peak = online;
  peak_at_ms = at_ms;
}

ActiveDays::Day* ActiveDays::Kept(int32_t day) { return day < first_day_ ? nullptr : &days_[day]; }

void ActiveDays::KeepFrom(int32_t first) {
  if (first <= first_day_) return;
  first_day_ = first;
  days_.erase(days_.begin(), days_.lower_bound(first));
}

void ActiveDays::SetDaysBack(int32_t today, int64_t at_ms) {
  first_day_ = std::min(first_day_, today);
  Day later;
  ForEach(today + 1, INT32_MAX, [&](const Day& day) {
    later.active |= day.active;
    later.AddFresh(day.fresh);
    later.NotePeak(day.peak, at_ms);
  });
  days_.erase(days_.upper_bound(today), days_.end());
  Day& day = days_[today];
  day.active |= later.active;
  day.AddFresh(later.fresh);
  day.peak_at_ms = std::min(day.peak_at_ms, at_ms);
  day.NotePeak(later.peak, at_ms);
}

void ActiveDays::SetMinutesBack(int64_t minute) {
  uint32_t most = 0;
  for (; !minutes_.empty() && minutes_.back().minute > minute; minutes_.pop_back()) {
    most = std::max(most, minutes_.back().most);
  }
  NoteOnline(minute, most);
}

uint64_t ActiveDays::UsersBetween(int32_t from, int32_t to) const {
  std::vector<const Roaring*> bitmaps;
  for (auto day = days_.lower_bound(from); day != days_.end() && day->first <= to; ++day) {
    bitmaps.push_back(&day->second.active);
  }
  if (bitmaps.empty()) return 0;
  if (bitmaps.size() == 1) return bitmaps.front()->cardinality();
  return Roaring::fastunion(bitmaps.size(), bitmaps.data()).cardinality();
}

void ActiveDays::NoteOnline(int64_t minute, uint32_t online) {
  if (!minutes_.empty() && minutes_.back().minute == minute) {
    minutes_.back().most = std::max(minutes_.back().most, online);
  } else if (online > 0) {
    minutes_.push_back({minute, online});
  }
}

void ActiveDays::KeepMinutesFrom(int64_t first) {
  while (!minutes_.empty() && minutes_.front().minute < first) minutes_.pop_front();
}

uint32_t ActiveDays::MostBetween(int64_t from, int64_t to) const {
  auto minute = std::partition_point(minutes_.begin(), minutes_.end(),
                                     [from](const Minute& m) { return m.minute < from; });
  uint32_t most = 0;
  for (; minute != minutes_.end() && minute->minute < to; ++minute) {
    most = std::max(most, minute->most);
  }
  return most;
}

size_t ActiveDays::MemoryBytes() const {
  size_t bytes = minutes_.size() * sizeof(Minute);
  for (const auto& [number, day] : days_) bytes += sizeof(Day) + day.active.getSizeInBytes(true);
  return bytes;
}

bool ActiveDays::FreeSome() {
  minutes_.clear();
  if (!days_.empty()) days_.erase(std::prev(days_.end()));
  return days_.empty();
}

// Appends the figures of the day and a part of its active ids, from number `from` on, as pairs
// (gap, length) of about `max_bytes`. Sets `from` to the number at which the next call continues,
// or to 0 if the bitmap is finished.
void ActiveDays::AppendDay(std::string& out, int32_t number, const Day& day, uint32_t& from,
                           size_t max_bytes) const {
  std::string runs;
  uint64_t count = 0;
  uint32_t end = from;
  auto place = day.active.begin();
  place.equalorlarger(from);
  while (place != day.active.end() && runs.size() < max_bytes) {
    const uint32_t first = *place;
    uint32_t next = first;
    for (; place != day.active.end() && *place == next; ++place) ++next;
    AppendVarint(runs, first - end);
    AppendVarint(runs, next - first);
    end = next;
    ++count;
  }
  out.push_back(kDayRun);
  AppendSignedVarint(out, number);
  AppendVarint(out, day.fresh);
  AppendVarint(out, day.peak);
  AppendVarint(out, static_cast<uint64_t>(day.peak_at_ms));
  AppendVarint(out, from);
  AppendVarint(out, count);
  out += runs;
  from = place == day.active.end() ? 0 : end;
}

uint64_t ActiveDays::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  // The high 32 bits of the cursor are 1 + the index of the day, the low 32 bits the id number to
  // continue from. Indices after the last day stand for runs of minutes.
  constexpr int kNumberBits = 32;
  uint64_t index = cursor == 0 ? 0 : (cursor >> kNumberBits) - 1;
  auto from = static_cast<uint32_t>(cursor);
  const size_t begin = out.size();
  auto day = days_.begin();
  std::advance(day, std::min<uint64_t>(index, days_.size()));
  for (; day != days_.end(); ++day, ++index) {
    if (out.size() - begin >= max_bytes) return (index + 1) << kNumberBits;
    AppendDay(out, day->first, day->second, from, max_bytes);
    if (from != 0) return (index + 1) << kNumberBits | from;
  }
  constexpr size_t kMinutesARun = 4'096;
  const size_t skip = (index - days_.size()) * kMinutesARun;
  const size_t end = std::min(minutes_.size(), skip + kMinutesARun);
  out.push_back(kMinuteRun);
  AppendVarint(out, end - std::min(skip, end));
  int64_t last = 0;
  for (size_t i = skip; i < end; ++i) {
    AppendVarint(out, static_cast<uint64_t>(minutes_[i].minute - last));
    AppendVarint(out, minutes_[i].most);
    last = minutes_[i].minute;
  }
  return end < minutes_.size() ? (index + 2) << kNumberBits : 0;
}

bool ActiveDays::LoadDay(std::string_view& run, uint32_t last_number) {
  int64_t number = 0;
  uint64_t fields[5] = {};
  if (!ReadSignedVarint(run, number) || number < -1 || number > INT32_MAX) return false;
  for (uint64_t& field : fields) {
    if (!ReadVarint(run, field)) return false;
  }
  auto [fresh, peak, peak_at, end, count] = fields;
  if (end > last_number || peak > last_number) return false;
  if (fresh > UINT32_MAX || peak_at > kMaxInstantMs) return false;
  Day& day = days_[static_cast<int32_t>(number)];
  day.fresh = static_cast<uint32_t>(fresh);
  day.peak = static_cast<uint32_t>(peak);
  day.peak_at_ms = static_cast<int64_t>(peak_at);
  for (; count > 0; --count) {
    uint64_t gap = 0;
    uint64_t length = 0;
    if (!ReadVarint(run, gap) || !ReadVarint(run, length)) return false;
    if (gap > last_number || length == 0 || length > last_number) return false;
    if (end + gap == 0 || end + gap + length > uint64_t{last_number} + 1) return false;
    day.active.addRange(end + gap, end + gap + length);
    end += gap + length;
  }
  return true;
}

bool ActiveDays::LoadMinutes(std::string_view& run, int64_t last_minute) {
  uint64_t count = 0;
  if (!ReadVarint(run, count)) return false;
  int64_t minute = 0;
  for (; count > 0; --count) {
    uint64_t gap = 0;
    uint64_t most = 0;
    if (!ReadVarint(run, gap) || !ReadVarint(run, most)) return false;
    if (gap > static_cast<uint64_t>(last_minute - minute) || most > UINT32_MAX) return false;
    minute += static_cast<int64_t>(gap);
    if (!minutes_.empty() && minutes_.back().minute >= minute) return false;
    minutes_.push_back({minute, static_cast<uint32_t>(most)});
  }
  return true;
}

bool ActiveDays::Load(std::string_view run, uint32_t last_number, int64_t last_minute) {
  while (!run.empty()) {
    const char kind = run.front();
    run.remove_prefix(1);
    const bool good = kind == kDayRun ? LoadDay(run, last_number)
                                      : kind == kMinuteRun && LoadMinutes(run, last_minute);
    if (!good) return false;
  }
  return true;
}

}  // namespace tally
