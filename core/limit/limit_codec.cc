#include "core/limit/limit_codec.h"

#include <cstdint>
#include <limits>

#include "core/bytes/varint.h"
#include "core/time/duration.h"

namespace tally {
namespace {

constexpr uint8_t kAlgorithmMask = 0x07;
constexpr uint8_t kWholeSeconds = 0x08;
constexpr int kUnitShift = 3;
constexpr uint8_t kUnitMask = 0x07;
constexpr uint8_t kSundayHead = 0x40;
constexpr uint8_t kHasStart = 0x10;
// In place of a unit: the unit and its start follow.
constexpr uint8_t kStartedUnit = 7;
// In place of an algorithm: it is in the upper half of the head, less kLastShort.
constexpr uint8_t kLongAlgorithm = 7;
constexpr uint8_t kLastShort = 8;
constexpr int kLongShift = 4;
constexpr uint8_t kHasZone = 0x80;
// Before the head of a rule that is in SHADOW.
constexpr uint8_t kShadowHead = 16;
// An upper bound of stored instants: a window that is open at kMaxInstantMs ends before it.
constexpr uint64_t kMaxTime = 3 * static_cast<uint64_t>(kMaxInstantMs);
// Days and calendar periods may start before 1970, by up to a year and a zone's UTC offset. Stored
// starts are shifted by this, so that they are not negative.
constexpr int64_t kSecondsBefore1970 = int64_t{400} * 86'400;

using Algorithm = LimitAlgorithm;

bool ReadTime(std::string_view& in, int64_t& at_ms) {
  uint64_t value = 0;
  if (!ReadVarint(in, value) || value > kMaxTime) return false;
  at_ms = static_cast<int64_t>(value);
  return true;
}

bool ReadCount(std::string_view& in, int64_t& count) {
  uint64_t value = 0;
  if (!ReadVarint(in, value) || value > std::numeric_limits<int64_t>::max()) return false;
  count = static_cast<int64_t>(value);
  return true;
}

// The few bytes of a key and of its numbers, which are appended to `out` at once at the end: each
// call of append costs more than it takes to write a number.
class ShortBytes {
 public:
  explicit ShortBytes(std::string& out) : out_(out) {}
  ~ShortBytes() { out_.append(bytes_, static_cast<size_t>(end_ - bytes_)); }
  ShortBytes(const ShortBytes&) = delete;
  ShortBytes& operator=(const ShortBytes&) = delete;

  void Byte(uint8_t byte) { *end_++ = static_cast<char>(byte); }
  // The number is not negative.
  void Number(int64_t number) { end_ = WriteVarint(end_, static_cast<uint64_t>(number)); }

 private:
  static constexpr size_t kMostOfKey = 7 + 2 * kMaxVarintBytes;
  static constexpr size_t kMostNumbers = 6;  // those of LOCKOUT

  std::string& out_;
  char bytes_[kMostOfKey + kMostNumbers * kMaxVarintBytes];
  char* end_ = bytes_;
};

// Calendar periods start and end at whole seconds; the start may be before 1970.
void AppendDates(ShortBytes& out, const Period& period) {
  out.Number(period.start_ms / 1000 + kSecondsBefore1970);
  out.Number((period.end_ms - period.start_ms) / 1000);
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

// A week from Sunday on has a bit in the head.
bool IsSundayWeek(const LimitKey& key) {
  return key.algorithm == Algorithm::kCalendar && key.unit == CalendarUnit::kWeek &&
         key.start_ms == kSundayWeek.code();
}

bool IsStart(uint64_t code, CalendarUnit unit) {
  return CalendarStart::OfCode(code, unit).has_value();
}

bool ReadAlgorithm(uint8_t head, Algorithm& algorithm) {
  const uint8_t low = head & kAlgorithmMask;
  if (low == kLongAlgorithm) {
    algorithm = static_cast<Algorithm>((head >> kLongShift) + kLastShort);
    return algorithm == Algorithm::kLockout;
  }
  algorithm = static_cast<Algorithm>(low);
  return algorithm >= Algorithm::kFixed && algorithm <= Algorithm::kBase;
}

bool ReadCalendarUnit(std::string_view& in, uint8_t head, LimitKey& key) {
  uint8_t unit = head >> kUnitShift & kUnitMask;
  const bool started = unit == kStartedUnit;
  if (started) {
    if (in.empty()) return false;
    unit = static_cast<uint8_t>(in.front());
    in.remove_prefix(1);
  }
  if (unit > static_cast<uint8_t>(CalendarUnit::kYear)) return false;
  key.unit = static_cast<CalendarUnit>(unit);
  if (!started) {
    const bool sunday = (head & kSundayHead) != 0;
    if (sunday) key.start_ms = kSundayWeek.code();
    return !sunday || key.unit == CalendarUnit::kWeek;
  }
  uint64_t start = 0;
  if (!ReadVarint(in, start) || start == 0 || !IsStart(start, key.unit)) return false;
  key.start_ms = static_cast<int64_t>(start);
  return !IsSundayWeek(key);
}

void AppendBlock(ShortBytes& bytes, const LimitNumbers& numbers) {
  // The step, and whether the block was taken back.
  const int64_t step = numbers.before;
  bytes.Number(step < 0 ? -2 * step + 1 : 2 * step);
  if (step == 0) return;
  bytes.Number(numbers.day.start_ms);
  bytes.Number(numbers.day.end_ms - numbers.day.start_ms);
  bytes.Number(numbers.refill);
}

bool ReadBlock(std::string_view& in, LimitNumbers& numbers) {
  int64_t step = 0;
  if (!ReadCount(in, step) || step == 1) return false;
  numbers.before = step % 2 == 0 ? step / 2 : -(step / 2);
  if (step == 0) return true;
  int64_t length = 0;
  if (!ReadTime(in, numbers.day.start_ms) || !ReadTime(in, length) || length == 0) return false;
  numbers.day.end_ms = numbers.day.start_ms + length;
  return ReadTime(in, numbers.refill);
}

void WriteKey(ShortBytes& bytes, const LimitKey& key) {
  uint8_t head = static_cast<uint8_t>(key.algorithm);
  const bool calendar = key.algorithm == Algorithm::kCalendar;
  const bool zone = key.has_zone() && key.zone_id != 0;
  const bool whole = key.period_ms % 1000 == 0;
  const bool sunday = key.start_ms != 0 && IsSundayWeek(key);
  const bool started = key.start_ms != 0 && !sunday;
  if (calendar) {
    const uint8_t unit = started ? kStartedUnit : static_cast<uint8_t>(key.unit);
    head |= static_cast<uint8_t>(unit << kUnitShift);
    if (sunday) head |= kSundayHead;
  } else {
    if (head > kLastShort) {
      head = static_cast<uint8_t>((head - kLastShort) << kLongShift) | kLongAlgorithm;
    }
    if (whole) head |= kWholeSeconds;
    if (started) head |= kHasStart;
  }
  if (zone) head |= kHasZone;
  if (key.shadow) [[unlikely]]
    bytes.Byte(kShadowHead);
  bytes.Byte(head);
  if (zone) {
    for (int shift = 0; shift < 32; shift += 8) {
      bytes.Byte(static_cast<uint8_t>(key.zone_id >> shift));
    }
  }
  if (!calendar) {
    bytes.Number(whole ? key.period_ms / 1000 : key.period_ms);
  } else if (started) {
    bytes.Byte(static_cast<uint8_t>(key.unit));
  }
  if (started) bytes.Number(key.start_ms);
}

void WriteNumbers(ShortBytes& bytes, const LimitKey& key, const LimitNumbers& numbers) {
  const int64_t start_ms = numbers.window.start_ms;
  switch (key.algorithm) {
    case Algorithm::kCalendar:
      AppendDates(bytes, numbers.window);
      break;
    case Algorithm::kRolling:
      bytes.Number(start_ms);
      bytes.Number(numbers.before);
      break;
    case Algorithm::kBucket:
      bytes.Number(start_ms);
      bytes.Number(numbers.refill);
      break;
    case Algorithm::kLockout:
      bytes.Number(start_ms);
      AppendBlock(bytes, numbers);
      break;
    case Algorithm::kFixed:
      // A window that is laid down may begin before 1970.
      bytes.Number(key.start_ms == 0 ? start_ms : start_ms + key.period_ms);
      break;
    case Algorithm::kBase:
      AppendDates(bytes, numbers.day);
      bytes.Number(numbers.before);
      bytes.Number(start_ms);
      break;
    default:
      bytes.Number(start_ms);
      break;
  }
  bytes.Number(numbers.hits);
}

}  // namespace

void AppendLimitKey(std::string& out, const LimitKey& key) {
  ShortBytes bytes(out);
  WriteKey(bytes, key);
}

bool ReadLimitKey(std::string_view& in, LimitKey& key) {
  if (!in.empty() && in.front() == kShadowHead) [[unlikely]] {
    key.shadow = true;
    in.remove_prefix(1);
  }
  if (in.empty()) return false;
  const auto head = static_cast<uint8_t>(in.front());
  in.remove_prefix(1);
  if (!ReadAlgorithm(head, key.algorithm)) return false;
  const bool is_long = (head & kAlgorithmMask) == kLongAlgorithm;
  if (!is_long && (head & kHasZone) != 0) {
    if (!key.has_zone() || in.size() < 4) return false;
    for (size_t i = 0; i < 4; ++i) {
      key.zone_id |= static_cast<uint32_t>(static_cast<uint8_t>(in[i])) << (8 * i);
    }
    in.remove_prefix(4);
  }
  if (key.algorithm == Algorithm::kCalendar) return ReadCalendarUnit(in, head, key);
  uint64_t period = 0;
  if (!ReadVarint(in, period) || period == 0 || period > kMaxDurationMs) return false;
  if ((head & kWholeSeconds) != 0) period *= 1000;
  if (period > kMaxDurationMs) return false;
  key.period_ms = static_cast<int64_t>(period);
  const bool fixed = key.algorithm == Algorithm::kFixed;
  if ((!fixed && key.algorithm != Algorithm::kBase) || (head & kHasStart) == 0) return true;
  uint64_t start = 0;
  if (!ReadVarint(in, start) || start == 0) return false;
  key.start_ms = static_cast<int64_t>(start);
  return fixed ? start <= period : IsStart(start, CalendarUnit::kDay);
}

void AppendLimitCounter(std::string& out, const LimitKey& key, const LimitNumbers& numbers) {
  ShortBytes bytes(out);
  WriteKey(bytes, key);
  WriteNumbers(bytes, key, numbers);
}

bool ReadLimitNumbers(std::string_view& in, const LimitKey& key, LimitNumbers& numbers) {
  int64_t& start_ms = numbers.window.start_ms;
  switch (key.algorithm) {
    case Algorithm::kCalendar:
      return ReadDates(in, numbers.window) && ReadCount(in, numbers.hits);
    case Algorithm::kRolling:
      if (!ReadTime(in, start_ms) || !ReadCount(in, numbers.before)) return false;
      break;
    case Algorithm::kBucket:
      if (!ReadTime(in, start_ms) || !ReadCount(in, numbers.refill) || numbers.refill < 1) {
        return false;
      }
      break;
    case Algorithm::kLockout:
      if (!ReadTime(in, start_ms) || !ReadBlock(in, numbers)) return false;
      break;
    case Algorithm::kFixed:
      if (!ReadTime(in, start_ms)) return false;
      if (key.start_ms != 0) start_ms -= key.period_ms;
      break;
    case Algorithm::kBase:
      if (!ReadDates(in, numbers.day) || !ReadCount(in, numbers.before)) return false;
      if (!ReadTime(in, start_ms)) return false;
      break;
    default:
      if (!ReadTime(in, start_ms)) return false;
      break;
  }
  numbers.window.end_ms = start_ms + key.period_ms;
  return ReadCount(in, numbers.hits);
}

}  // namespace tally
