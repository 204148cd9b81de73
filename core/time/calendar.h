// Calendar periods in IANA time zones: the second, minute, hour, day, week, month or year that an
// instant falls in, right over daylight-saving changes.
//
// The periods of one unit in one zone cover the time line without gaps or overlaps:
//  * Days and longer begin where the zone's clocks first show midnight; where a change skips
//    midnight, at that change. So days of 23, 24 or 25 hours (and of any length that a zone's law
//    makes) are single periods.
//  * Hours, minutes and seconds follow the clock's face but are never longer than their name: an
//    hour shown twice is two periods, and a change in the middle of an hour ends it. In
//    Australia/Lord_Howe, whose change is 30 minutes, that gives half hours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace tally {

enum class CalendarUnit : uint8_t { kSecond, kMinute, kHour, kDay, kWeek, kMonth, kYear };
enum class WeekStart : uint8_t { kMonday, kSunday };

// [start_ms, end_ms) in unix milliseconds, always whole seconds.
struct Period {
  int64_t start_ms = 0;
  int64_t end_ms = 0;

  bool Contains(int64_t at_ms) const { return start_ms <= at_ms && at_ms < end_ms; }
  friend bool operator==(const Period&, const Period&) = default;
};

// The period of `unit` in `zone` that holds `at_ms`, which is in [0, kMaxInstantMs].
Period PeriodContaining(int64_t at_ms, CalendarUnit unit, WeekStart week_start,
                        const absl::TimeZone& zone);

// Days are numbered from 1970-01-01 = 0, by the zone's calendar.
Period DayPeriod(int32_t day, const absl::TimeZone& zone);

// `yyyy-mm-dd`, digit for digit, a date that exists, 1970 to 9999; nullopt for anything else.
std::optional<int32_t> ParseDate(std::string_view text);
std::string FormatDate(int32_t day);

// A zone with the periods last found in it, so that a decision inside the current period costs two
// comparisons. Not for use by two threads at once.
class Zone {
 public:
  // Coordinated Universal Time.
  Zone();

  // `name` as IsName() says, with the clocks of `zone`. Zones come from a ZoneSource.
  Zone(std::string name, absl::TimeZone zone);

  // Whether a zone may have that name: at most 64 letters, digits and `_+-/`, no path from the root
  // and not `localtime`. No source need have it.
  static bool IsName(std::string_view name);
  // The zone of a name that a source lacks, for what is stored under it: its clocks show UTC.
  static Zone Missing(std::string_view name);

  const std::string& name() const { return name_; }
  bool is_missing() const { return is_missing_; }
  // A digest of the name, to distinguish zones in compact state: 0 for UTC, different for all the
  // names in today's tzdata.
  uint32_t id() const { return id_; }
  const absl::TimeZone& time_zone() const { return zone_; }

  Period Containing(int64_t at_ms, CalendarUnit unit, WeekStart week_start = WeekStart::kMonday);
  int32_t DayOf(int64_t at_ms);

 private:
  struct NumberedDay {
    Period period;
    int32_t day = 0;
  };

  std::string name_;
  uint32_t id_ = 0;
  absl::TimeZone zone_;
  bool is_missing_ = false;
  // By unit; the last one is the week that begins on Sunday.
  std::array<Period, 8> found_{};
  NumberedDay found_day_;
};

}  // namespace tally
