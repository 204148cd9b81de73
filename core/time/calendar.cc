#include "core/time/calendar.h"

#include <utility>

#include "absl/time/civil_time.h"
#include "core/base/check.h"

namespace tally {
namespace {

constexpr size_t kMaxZoneNameBytes = 64;
constexpr size_t kSundayWeekSlot = 7;

int64_t StartMs(absl::CivilDay day, const absl::TimeZone& zone) {
  // FromCivil returns the first of two midnights, and the instant of the change if midnight is
  // skipped.
  return absl::ToUnixMillis(absl::FromCivil(absl::CivilSecond(day), zone));
}

int64_t OffsetSeconds(int64_t at_s, const absl::TimeZone& zone) {
  return zone.At(absl::FromUnixSeconds(at_s)).offset;
}

// The first second in (low, high] that has the offset of `high`; `low` has another offset.
int64_t ChangeBetween(int64_t low, int64_t high, const absl::TimeZone& zone) {
  const int64_t offset = OffsetSeconds(high, zone);
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (OffsetSeconds(middle, zone) == offset ? high : low) = middle;
  }
  return high;
}

Period ClockPeriod(int64_t at_ms, int64_t length_s, const absl::TimeZone& zone) {
  const int64_t at_s = at_ms / 1000;
  const int64_t offset = OffsetSeconds(at_s, zone);
  int64_t into = (at_s + offset) % length_s;
  if (into < 0) into += length_s;
  int64_t start = at_s - into;
  int64_t end = start + length_s;
  if (OffsetSeconds(start, zone) != offset) start = ChangeBetween(start, at_s, zone);
  if (OffsetSeconds(end - 1, zone) != offset) end = ChangeBetween(at_s, end - 1, zone);
  return {start * 1000, end * 1000};
}

absl::CivilDay FirstDay(absl::CivilDay day, CalendarUnit unit, WeekStart week_start) {
  switch (unit) {
    case CalendarUnit::kWeek: {
      const absl::Weekday first =
          week_start == WeekStart::kMonday ? absl::Weekday::monday : absl::Weekday::sunday;
      return absl::PrevWeekday(day + 1, first);
    }
    case CalendarUnit::kMonth:
      return absl::CivilDay(absl::CivilMonth(day));
    case CalendarUnit::kYear:
      return absl::CivilDay(absl::CivilYear(day));
    default:
      return day;
  }
}

// The first day of the period after (or, for -1, before) the one that begins on `first`.
absl::CivilDay Neighbour(absl::CivilDay first, CalendarUnit unit, int step) {
  switch (unit) {
    case CalendarUnit::kWeek:
      return first + 7 * step;
    case CalendarUnit::kMonth:
      return absl::CivilDay(absl::CivilMonth(first) + step);
    case CalendarUnit::kYear:
      return absl::CivilDay(absl::CivilYear(first) + step);
    default:
      return first + step;
  }
}

struct DatedPeriod {
  absl::CivilDay first;
  Period period;
};

DatedPeriod DatePeriod(int64_t at_ms, CalendarUnit unit, WeekStart week_start,
                       const absl::TimeZone& zone) {
  const absl::CivilDay day = absl::ToCivilDay(absl::FromUnixMillis(at_ms), zone);
  absl::CivilDay first = FirstDay(day, unit, week_start);
  // Just after a change that sets the clock back over midnight, the clock shows the old date again,
  // although the next day has begun already.
  absl::CivilDay next = Neighbour(first, unit, 1);
  while (StartMs(next, zone) <= at_ms) {
    first = next;
    next = Neighbour(first, unit, 1);
  }
  return {first, {StartMs(first, zone), StartMs(next, zone)}};
}

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
uint32_t NameDigest(std::string_view name) {
  uint32_t digest = 2166136261u;
  for (const char c : name) digest = (digest ^ static_cast<uint8_t>(c)) * 16777619u;
  return digest;
}

bool IsZoneName(std::string_view name) {
  if (name.empty() || name.size() > kMaxZoneNameBytes || name.front() == '/') return false;
  // `localtime` is the host's zone, and the host must not decide what a limit means.
  if (name == "localtime") return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit && c != '_' && c != '+' && c != '-' && c != '/') return false;
  }
  return true;
}

int32_t NumberOf(absl::CivilDay day) { return static_cast<int32_t>(day - absl::CivilDay()); }

}  // namespace

Period PeriodContaining(int64_t at_ms, CalendarUnit unit, WeekStart week_start,
                        const absl::TimeZone& zone) {
  switch (unit) {
    case CalendarUnit::kSecond:
      return ClockPeriod(at_ms, 1, zone);
    case CalendarUnit::kMinute:
      return ClockPeriod(at_ms, 60, zone);
    case CalendarUnit::kHour:
      return ClockPeriod(at_ms, 3600, zone);
    default:
      return DatePeriod(at_ms, unit, week_start, zone).period;
  }
}

Period DayPeriod(int32_t day, const absl::TimeZone& zone) {
  const absl::CivilDay first = absl::CivilDay() + day;
  return {StartMs(first, zone), StartMs(first + 1, zone)};
}

std::optional<int32_t> ParseDate(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  int fields[3] = {0, 0, 0};
  constexpr size_t kFieldStart[3] = {0, 5, 8};
  constexpr size_t kFieldEnd[3] = {4, 7, 10};
  for (size_t field = 0; field < 3; ++field) {
    for (size_t i = kFieldStart[field]; i < kFieldEnd[field]; ++i) {
      if (text[i] < '0' || text[i] > '9') return std::nullopt;
      fields[field] = fields[field] * 10 + (text[i] - '0');
    }
  }
  const absl::CivilDay day(fields[0], fields[1], fields[2]);
  // CivilDay carries 31 April over to 1 May; such a date does not exist.
  if (fields[0] < 1970 || day.month() != fields[1] || day.day() != fields[2]) return std::nullopt;
  return NumberOf(day);
}

std::string FormatDate(int32_t day) { return absl::FormatCivilTime(absl::CivilDay() + day); }

Zone::Zone() : name_("UTC"), zone_(absl::UTCTimeZone()) {}

Zone::Zone(std::string name, absl::TimeZone zone)
    : name_(std::move(name)), id_(NameDigest(name_)), zone_(zone) {}

bool Zone::IsName(std::string_view name) { return IsZoneName(name); }

Zone Zone::Missing(std::string_view name) {
  Zone zone(std::string(name), absl::UTCTimeZone());
  zone.is_missing_ = true;
  return zone;
}

Period Zone::Containing(int64_t at_ms, CalendarUnit unit, WeekStart week_start) {
  const bool sunday_week = unit == CalendarUnit::kWeek && week_start == WeekStart::kSunday;
  Period& found = found_[sunday_week ? kSundayWeekSlot : static_cast<size_t>(unit)];
  if (!found.Contains(at_ms)) found = PeriodContaining(at_ms, unit, week_start, zone_);
  return found;
}

int32_t Zone::DayOf(int64_t at_ms) {
  if (!found_day_.period.Contains(at_ms)) {
    const DatedPeriod day = DatePeriod(at_ms, CalendarUnit::kDay, WeekStart::kMonday, zone_);
    found_day_ = {day.period, NumberOf(day.first)};
  }
  return found_day_.day;
}

}  // namespace tally
