#include "core/time/calendar.h"

#include <algorithm>
#include <utility>

#include "absl/time/civil_time.h"
#include "core/base/check.h"

namespace tally {
namespace {

constexpr size_t kMaxZoneNameBytes = 64;
constexpr int kMostOffsetMinutes = 14 * 60;
// Enough for all days on which months may start, and some times of day.
constexpr uint32_t kStartedPlaceBits = 6;

int64_t StartMs(absl::CivilSecond second, const absl::TimeZone& zone) {
  // FromCivil returns the first of two such seconds, and the instant of the change if it is
  // skipped.
  return absl::ToUnixMillis(absl::FromCivil(second, zone));
}

int64_t OffsetSeconds(int64_t at_s, const absl::TimeZone& zone) {
  return zone.At(absl::FromUnixSeconds(at_s)).offset;
}

// The first second in (low, high] that has the offset of `high_s`; `low_s` has another offset.
int64_t ChangeBetween(int64_t low_s, int64_t high_s, const absl::TimeZone& zone) {
  const int64_t offset = OffsetSeconds(high_s, zone);
  while (high_s - low_s > 1) {
    const int64_t middle_s = low_s + (high_s - low_s) / 2;
    (OffsetSeconds(middle_s, zone) == offset ? high_s : low_s) = middle_s;
  }
  return high_s;
}

Period ClockPeriod(int64_t at_ms, int64_t length_s, const absl::TimeZone& zone) {
  const int64_t at_s = at_ms / 1000;
  const int64_t offset = OffsetSeconds(at_s, zone);
  int64_t into_s = (at_s + offset) % length_s;
  if (into_s < 0) into_s += length_s;
  int64_t start_s = at_s - into_s;
  int64_t end_s = start_s + length_s;
  if (OffsetSeconds(start_s, zone) != offset) start_s = ChangeBetween(start_s, at_s, zone);
  if (OffsetSeconds(end_s - 1, zone) != offset) end_s = ChangeBetween(at_s, end_s - 1, zone);
  return {start_s * 1000, end_s * 1000};
}

// The day of a month on which it starts: the last one of a month that is too short.
absl::CivilDay StartDay(absl::CivilMonth month, const CalendarStart& start) {
  const absl::CivilDay last = absl::CivilDay(month + 1) - 1;
  return std::min(absl::CivilDay(month) + start.day, last);
}

// The day on which a period of the year begins.
absl::CivilDay StartDay(absl::CivilYear year, const CalendarStart& start) {
  return StartDay(absl::CivilMonth(year) + start.month, start);
}

// The first day of the period that holds `day`. Periods of a month or year with a start may begin
// on the same day of it, or on one before.
absl::CivilDay FirstDay(absl::CivilDay day, CalendarUnit unit, const CalendarStart& start) {
  switch (unit) {
    case CalendarUnit::kWeek: {
      const int weekday = static_cast<int>(absl::GetWeekday(day));  // from Monday on, as ours
      return day - (weekday - start.day + 7) % 7;
    }
    case CalendarUnit::kMonth: {
      const absl::CivilMonth month(day);
      const absl::CivilDay first = StartDay(month, start);
      return first <= day ? first : StartDay(month - 1, start);
    }
    case CalendarUnit::kYear: {
      const absl::CivilYear year(day);
      const absl::CivilDay first = StartDay(year, start);
      return first <= day ? first : StartDay(year - 1, start);
    }
    default:
      return day;
  }
}

// The first day of the period after the one that begins on `first`.
absl::CivilDay NextFirst(absl::CivilDay first, CalendarUnit unit, const CalendarStart& start) {
  switch (unit) {
    case CalendarUnit::kWeek:
      return first + 7;
    case CalendarUnit::kMonth:
      return StartDay(absl::CivilMonth(first) + 1, start);
    case CalendarUnit::kYear:
      return StartDay(absl::CivilYear(first) + 1, start);
    default:
      return first + 1;
  }
}

struct DatedPeriod {
  absl::CivilDay first;
  Period period;
};

DatedPeriod DatePeriod(int64_t at_ms, CalendarUnit unit, const CalendarStart& start,
                       const absl::TimeZone& zone) {
  const absl::CivilSecond shown = absl::ToCivilSecond(absl::FromUnixMillis(at_ms), zone);
  const int64_t into_day_s = int64_t{start.minute} * 60;
  const auto start_ms = [&](absl::CivilDay first) {
    return StartMs(absl::CivilSecond(first) + into_day_s, zone);
  };
  absl::CivilDay first = FirstDay(absl::CivilDay(shown - into_day_s), unit, start);
  // Just after a change that sets the clock back over a start, the clock shows a time before it
  // again, although the next period has begun already.
  absl::CivilDay next = NextFirst(first, unit, start);
  while (start_ms(next) <= at_ms) {
    first = next;
    next = NextFirst(first, unit, start);
  }
  return {first, {start_ms(first), start_ms(next)}};
}

// FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
uint32_t NameDigest(std::string_view name) {
  uint32_t digest = 2166136261u;
  for (const char c : name) digest = (digest ^ static_cast<uint8_t>(c)) * 16777619u;
  return digest;
}

// Reads `+08:00`, up to 14 hours, as seconds; nullopt for anything else.
std::optional<int> OffsetSeconds(std::string_view name) {
  if (name.size() != 6 || (name[0] != '+' && name[0] != '-') || name[3] != ':') return std::nullopt;
  for (const size_t i : {1, 2, 4, 5}) {
    if (name[i] < '0' || name[i] > '9') return std::nullopt;
  }
  const int minutes = (name[4] - '0') * 10 + (name[5] - '0');
  const int all = ((name[1] - '0') * 10 + (name[2] - '0')) * 60 + minutes;
  if (minutes > 59 || all > kMostOffsetMinutes) return std::nullopt;
  return (name[0] == '-' ? -60 : 60) * all;
}

bool IsZoneName(std::string_view name) {
  if (name.empty() || name.size() > kMaxZoneNameBytes || name.front() == '/') return false;
  // `localtime` is the host's zone, and the host must not decide what a limit means.
  if (name == "localtime") return false;
  if (OffsetSeconds(name)) return true;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (!letter && !digit && c != '_' && c != '+' && c != '-' && c != '/') return false;
  }
  return true;
}

int32_t NumberOf(absl::CivilDay day) { return static_cast<int32_t>(day - absl::CivilDay()); }

}  // namespace

Period PeriodContaining(int64_t at_ms, CalendarUnit unit, const CalendarStart& start,
                        const absl::TimeZone& zone) {
  switch (unit) {
    case CalendarUnit::kSecond:
      return ClockPeriod(at_ms, 1, zone);
    case CalendarUnit::kMinute:
      return ClockPeriod(at_ms, 60, zone);
    case CalendarUnit::kHour:
      return ClockPeriod(at_ms, 3600, zone);
    default:
      return DatePeriod(at_ms, unit, start, zone).period;
  }
}

Period DayPeriod(int32_t day, const absl::TimeZone& zone) {
  const absl::CivilDay first = absl::CivilDay() + day;
  return {StartMs(absl::CivilSecond(first), zone), StartMs(absl::CivilSecond(first + 1), zone)};
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

uint32_t Zone::IdOf(std::string_view name) { return name == "UTC" ? 0 : NameDigest(name); }

bool Zone::IsName(std::string_view name) { return IsZoneName(name); }

std::optional<Zone> Zone::OfOffset(std::string_view name) {
  const std::optional<int> seconds = OffsetSeconds(name);
  if (!seconds) return std::nullopt;
  if (*seconds == 0) return Zone();
  return Zone(std::string(name), absl::FixedTimeZone(*seconds));
}

std::vector<std::string> Zone::OffsetNames() {
  std::vector<std::string> names;
  for (int minutes = 0; minutes <= kMostOffsetMinutes; ++minutes) {
    const std::string clock =
        FormatCalendarStart({.minute = static_cast<uint16_t>(minutes)}, CalendarUnit::kDay);
    names.push_back("+" + clock);
    names.push_back("-" + clock);
  }
  return names;
}

Zone Zone::Missing(std::string_view name) {
  Zone zone(std::string(name), absl::UTCTimeZone());
  zone.is_missing_ = true;
  return zone;
}

Period Zone::ContainingFrom(int64_t at_ms, CalendarUnit unit, const CalendarStart& start) {
  if (found_started_.empty()) found_started_.resize(size_t{1} << kStartedPlaceBits);
  const uint32_t hash = (start.code() * 8 + static_cast<uint32_t>(unit)) * 2654435769u;
  StartedPeriod& found = found_started_[hash >> (32 - kStartedPlaceBits)];
  if (found.unit != unit || found.start != start || !found.period.Contains(at_ms)) {
    found = {unit, start, PeriodContaining(at_ms, unit, start, zone_)};
  }
  return found.period;
}

int32_t Zone::DayOf(int64_t at_ms) {
  if (!found_day_.period.Contains(at_ms)) {
    const DatedPeriod day = DatePeriod(at_ms, CalendarUnit::kDay, {}, zone_);
    found_day_ = {day.period, NumberOf(day.first)};
  }
  return found_day_.day;
}

}  // namespace tally
