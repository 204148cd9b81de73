#include "core/limit/limit_state.h"

#include <algorithm>
#include <limits>

#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"
#include "core/check.h"
#include "core/saturating.h"
#include "core/time/duration.h"

namespace tally {
namespace {

// A counter is a head byte, the fields that tell its key, and its numbers, all varints:
//   head: bits 0-2 algorithm; bits 3-7 by algorithm
//   FIXED, SLIDING, ROLLING, BUCKET, BASE: head bit 3 tells that the period is in whole seconds
//   CALENDAR: head bits 3-5 unit, bit 6 week start; CALENDAR, BASE: bit 7 zone present, 4 bytes
constexpr uint8_t kAlgorithmMask = 0x07;
constexpr uint8_t kWholeSeconds = 0x08;
constexpr int kUnitShift = 3;
constexpr uint8_t kUnitMask = 0x07;
constexpr uint8_t kSundayWeek = 0x40;
constexpr uint8_t kHasZone = 0x80;
// No algorithm: nothing but padding follows.
constexpr char kPad = 0;
// Windows end at most this long after the last instant.
constexpr uint64_t kMaxTime = 3 * static_cast<uint64_t>(kMaxInstantMs);
// Starts of days and of calendar periods may lie before 1970 by as much as a year and an offset.
constexpr int64_t kSecondsBefore1970 = 400 * 86'400;

using Algorithm = LimitAlgorithm;

bool HasZone(Algorithm algorithm) {
  return algorithm == Algorithm::kCalendar || algorithm == Algorithm::kBase;
}

void AppendKey(std::string& out, const LimitKey& key) {
  uint8_t head = static_cast<uint8_t>(key.algorithm);
  const bool zone = HasZone(key.algorithm) && key.zone_id != 0;
  const bool whole = key.period_ms % 1000 == 0;
  if (key.algorithm == Algorithm::kCalendar) {
    head |= static_cast<uint8_t>(static_cast<uint8_t>(key.unit) << kUnitShift);
    if (key.week_start == WeekStart::kSunday) head |= kSundayWeek;
  } else if (whole) {
    head |= kWholeSeconds;
  }
  if (zone) head |= kHasZone;
  out.push_back(static_cast<char>(head));
  if (zone) {
    for (int shift = 0; shift < 32; shift += 8) {
      out.push_back(static_cast<char>(key.zone_id >> shift & 0xff));
    }
  }
  if (key.algorithm != Algorithm::kCalendar) {
    AppendVarint(out, static_cast<uint64_t>(whole ? key.period_ms / 1000 : key.period_ms));
  }
}

bool ReadKey(std::string_view& in, LimitKey& key) {
  if (in.empty()) return false;
  const auto head = static_cast<uint8_t>(in.front());
  in.remove_prefix(1);
  key.algorithm = static_cast<Algorithm>(head & kAlgorithmMask);
  if (key.algorithm < Algorithm::kFixed || key.algorithm > Algorithm::kBase) return false;
  if ((head & kHasZone) != 0) {
    if (!HasZone(key.algorithm) || in.size() < 4) return false;
    for (size_t i = 0; i < 4; ++i) {
      key.zone_id |= static_cast<uint32_t>(static_cast<uint8_t>(in[i])) << (8 * i);
    }
    in.remove_prefix(4);
  }
  if (key.algorithm == Algorithm::kCalendar) {
    key.unit = static_cast<CalendarUnit>(head >> kUnitShift & kUnitMask);
    key.week_start = (head & kSundayWeek) != 0 ? WeekStart::kSunday : WeekStart::kMonday;
    return key.unit <= CalendarUnit::kYear;
  }
  uint64_t period = 0;
  if (!ReadVarint(in, period) || period == 0 || period > kMaxDurationMs) return false;
  if ((head & kWholeSeconds) != 0) period *= 1000;
  if (period > kMaxDurationMs) return false;
  key.period_ms = static_cast<int64_t>(period);
  return true;
}

bool ReadTime(std::string_view& in, int64_t& at) {
  uint64_t value = 0;
  if (!ReadVarint(in, value) || value > kMaxTime) return false;
  at = static_cast<int64_t>(value);
  return true;
}

bool ReadCount(std::string_view& in, int64_t& count) {
  uint64_t value = 0;
  if (!ReadVarint(in, value) || value > std::numeric_limits<int64_t>::max()) return false;
  count = static_cast<int64_t>(value);
  return true;
}

// Calendar periods are whole seconds; the start may lie a little before 1970.
void AppendDates(std::string& out, const Period& period) {
  AppendVarint(out, static_cast<uint64_t>(period.start_ms / 1000 + kSecondsBefore1970));
  AppendVarint(out, static_cast<uint64_t>((period.end_ms - period.start_ms) / 1000));
}

bool ReadDates(std::string_view& in, Period& period) {
  uint64_t start = 0;
  uint64_t length = 0;
  if (!ReadVarint(in, start) || !ReadVarint(in, length)) return false;
  if (start > kMaxTime / 1000 || length > kMaxTime / 1000) return false;
  period.start_ms = (static_cast<int64_t>(start) - kSecondsBefore1970) * 1000;
  period.end_ms = period.start_ms + static_cast<int64_t>(length) * 1000;
  return true;
}

void AppendNumbers(std::string& out, const LimitKey& key, const LimitNumbers& numbers) {
  const auto start = static_cast<uint64_t>(numbers.window.start_ms);
  switch (key.algorithm) {
    case Algorithm::kCalendar:
      AppendDates(out, numbers.window);
      break;
    case Algorithm::kRolling:
      // Windows are aligned, so the number of the window tells its start.
      AppendVarint(out, start / static_cast<uint64_t>(key.period_ms));
      AppendVarint(out, static_cast<uint64_t>(numbers.before));
      break;
    case Algorithm::kBucket:
      AppendVarint(out, start);
      AppendVarint(out, static_cast<uint64_t>(numbers.refill));
      break;
    case Algorithm::kBase:
      AppendDates(out, numbers.day);
      AppendVarint(out, static_cast<uint64_t>(numbers.before));
      AppendVarint(out, start);
      break;
    default:
      AppendVarint(out, start);
      break;
  }
  AppendVarint(out, static_cast<uint64_t>(numbers.hits));
}

bool ReadNumbers(std::string_view& in, const LimitKey& key, LimitNumbers& numbers) {
  int64_t& start = numbers.window.start_ms;
  switch (key.algorithm) {
    case Algorithm::kCalendar:
      return ReadDates(in, numbers.window) && ReadCount(in, numbers.hits);
    case Algorithm::kRolling: {
      int64_t number = 0;
      if (!ReadTime(in, number) || __builtin_mul_overflow(number, key.period_ms, &start)) {
        return false;
      }
      if (start > kMaxInstantMs || !ReadCount(in, numbers.before)) return false;
      break;
    }
    case Algorithm::kBucket:
      if (!ReadTime(in, start) || !ReadCount(in, numbers.refill) || numbers.refill < 1) {
        return false;
      }
      break;
    case Algorithm::kBase:
      if (!ReadDates(in, numbers.day) || !ReadCount(in, numbers.before)) return false;
      if (!ReadTime(in, start)) return false;
      break;
    default:
      if (!ReadTime(in, start)) return false;
      break;
  }
  numbers.window.end_ms = start + key.period_ms;
  return ReadCount(in, numbers.hits);
}

// Takes at most `hits` off `count`; returns what it could not take.
int64_t TakeBack(int64_t hits, int64_t& count) {
  const int64_t taken = std::min(hits, count);
  count -= taken;
  return hits - taken;
}

void GiveTo(LimitCounter& counter, int64_t count, int64_t at) {
  LimitNumbers& numbers = counter.numbers;
  const int64_t period = counter.key.period_ms;
  switch (counter.key.algorithm) {
    case Algorithm::kSliding:
      counter.log->RemoveNewest(static_cast<uint64_t>(count), at);
      break;
    case Algorithm::kRolling: {
      int64_t left = count;
      if (at >= numbers.window.start_ms) left = TakeBack(left, numbers.hits);
      if (at >= numbers.window.start_ms - period) TakeBack(left, numbers.before);
      break;
    }
    case Algorithm::kBucket: {
      int64_t units = 0;
      if (__builtin_mul_overflow(count, period, &units)) units = numbers.hits;
      TakeBack(units, numbers.hits);
      break;
    }
    case Algorithm::kBase:
      if (at >= numbers.day.start_ms) TakeBack(count, numbers.before);
      [[fallthrough]];
    default:
      if (at >= numbers.window.start_ms) TakeBack(count, numbers.hits);
      break;
  }
}

}  // namespace

LimitKey LimitKey::Of(const LimitRule& rule) {
  LimitKey key;
  key.algorithm = rule.algorithm;
  if (rule.algorithm == Algorithm::kCalendar) {
    key.unit = rule.unit;
    // Only weeks differ by their first day.
    if (rule.unit == CalendarUnit::kWeek) key.week_start = rule.week_start;
  } else {
    key.period_ms = rule.period_ms;
  }
  if (HasZone(rule.algorithm)) key.zone_id = rule.zone->id();
  return key;
}

int64_t ExpiryOf(const LimitKey& key, const LimitNumbers& numbers) {
  const int64_t window_end = numbers.hits > 0 ? numbers.window.end_ms : 0;
  switch (key.algorithm) {
    case Algorithm::kRolling:
      if (numbers.hits > 0) return numbers.window.end_ms + key.period_ms;
      return numbers.before > 0 ? numbers.window.end_ms : 0;
    case Algorithm::kBucket:
      // Rounded up: at that instant the last part of a token is back.
      if (numbers.hits == 0) return 0;
      return SaturatingAdd(numbers.window.start_ms,
                           numbers.hits / numbers.refill + (numbers.hits % numbers.refill != 0));
    case Algorithm::kBase:
      return std::max(numbers.before > 0 ? numbers.day.end_ms : 0, window_end);
    default:
      return window_end;
  }
}

int64_t LimitCounter::ExpiresAt() const {
  if (key.algorithm != Algorithm::kSliding) return ExpiryOf(key, numbers);
  return log == nullptr || log->empty() ? 0 : log->newest() + key.period_ms;
}

const LimitCounter* LimitState::Find(const LimitKey& key) const {
  for (const LimitCounter& counter : counters_) {
    if (counter.key == key) return &counter;
  }
  return nullptr;
}

LimitCounter& LimitState::FindOrAdd(const LimitKey& key) {
  for (LimitCounter& counter : counters_) {
    if (counter.key == key) return counter;
  }
  LimitCounter& added = counters_.emplace_back();
  added.key = key;
  if (key.algorithm == Algorithm::kSliding) {
    added.log = spare_log_ != nullptr ? std::move(spare_log_) : std::make_unique<TimeLog>();
  }
  return added;
}

void LimitState::Clear() {
  for (LimitCounter& counter : counters_) {
    if (counter.log == nullptr) continue;
    spare_log_ = std::move(counter.log);
    spare_log_->Clear();
  }
  counters_.clear();
}

size_t LimitState::Weight() const {
  uint64_t weight = counters_.size();
  for (const LimitCounter& counter : counters_) {
    if (counter.log != nullptr) weight += counter.log->size();
  }
  return static_cast<size_t>(weight);
}

int64_t LimitState::ExpiresAt() const {
  int64_t latest = 0;
  for (const LimitCounter& counter : counters_) latest = std::max(latest, counter.ExpiresAt());
  return latest;
}

void LimitState::Prune(int64_t now) {
  for (LimitCounter& counter : counters_) {
    if (counter.log != nullptr) counter.log->DropThrough(now - counter.key.period_ms);
  }
  const auto dead = [now](const LimitCounter& counter) { return counter.ExpiresAt() <= now; };
  counters_.erase(std::remove_if(counters_.begin(), counters_.end(), dead), counters_.end());
}

void LimitState::Give(int64_t count, int64_t now, int64_t at) {
  Prune(now);
  for (LimitCounter& counter : counters_) GiveTo(counter, count, at);
  Prune(now);
}

bool LimitState::Load(std::string_view bytes) {
  while (!bytes.empty()) {
    if (bytes.front() == kPad) return bytes.find_first_not_of(kPad) == std::string_view::npos;
    LimitKey key;
    if (!ReadKey(bytes, key)) return false;
    LimitCounter& counter = FindOrAdd(key);
    if (key.algorithm != Algorithm::kSliding) {
      if (!ReadNumbers(bytes, key, counter.numbers)) return false;
      continue;
    }
    if (!counter.log->Load(bytes)) return false;
  }
  return true;
}

void LimitState::Encode(std::string& out) const {
  for (uint64_t cursor = 0;;) {
    cursor = Save(cursor, std::numeric_limits<size_t>::max(), out);
    if (cursor == 0) return;
  }
}

bool LimitState::SavePacked(std::string& out) const {
  Check(out.empty(), "a packed state is alone");
  if (Save(0, SIZE_MAX, out) != 0 || out.size() > kMaxPackedBytes) return false;
  for (const LimitCounter& counter : counters_) {
    if (counter.log == nullptr) continue;
    out.append((kPadding - out.size() % kPadding) % kPadding, kPad);
    break;
  }
  return true;
}

size_t LimitState::MemoryBytes() const {
  size_t bytes = HeapBytes(sizeof(*this));
  if (counters_.capacity() > 2) bytes += HeapBytes(counters_.capacity() * sizeof(LimitCounter));
  for (const LimitCounter& counter : counters_) {
    if (counter.log != nullptr) bytes += HeapBytes(sizeof(TimeLog)) + counter.log->HeapBytesUsed();
  }
  if (spare_log_ != nullptr) {
    bytes += HeapBytes(sizeof(TimeLog)) + spare_log_->HeapBytesUsed();
  }
  return bytes;
}

std::unique_ptr<LimitState> LimitState::Clone() const {
  auto copy = std::make_unique<LimitState>();
  for (const LimitCounter& counter : counters_) {
    LimitCounter& added = copy->counters_.emplace_back();
    added.key = counter.key;
    added.numbers = counter.numbers;
    if (counter.log != nullptr) added.log = std::make_unique<TimeLog>(*counter.log);
  }
  return copy;
}

bool LimitState::FreeSome(size_t budget) {
  while (!counters_.empty()) {
    TimeLog* log = counters_.back().log.get();
    if (log != nullptr && !log->FreeSome(budget)) return false;
    counters_.pop_back();
  }
  return true;
}

uint64_t LimitState::Save(uint64_t cursor, size_t max_bytes, std::string& out) const {
  // The cursor is the counter's place above the cursor in its log.
  constexpr int kLogCursorBits = 48;
  constexpr uint64_t kLogCursorMask = (uint64_t{1} << kLogCursorBits) - 1;
  const size_t begin = out.size();
  size_t index = static_cast<size_t>(cursor >> kLogCursorBits);
  uint64_t in_log = cursor & kLogCursorMask;
  for (; index < counters_.size(); ++index, in_log = 0) {
    const LimitCounter& counter = counters_[index];
    const size_t used = out.size() - begin;
    if (used >= max_bytes) return static_cast<uint64_t>(index) << kLogCursorBits;
    AppendKey(out, counter.key);
    if (counter.log == nullptr) {
      AppendNumbers(out, counter.key, counter.numbers);
      continue;
    }
    in_log = counter.log->Save(in_log, max_bytes - used, out);
    if (in_log != 0) return static_cast<uint64_t>(index) << kLogCursorBits | in_log;
  }
  return 0;
}

}  // namespace tally
