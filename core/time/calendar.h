// Calendar periods in IANA time zones: the second, minute, hour, day, week, month or year that an
// instant falls in, correct across daylight-saving changes.
//
// The periods of one unit in one zone cover the time line without gaps or overlaps:
//  * Days and longer periods begin when the zone's clocks first show midnight, or the time of their
//    start, or, if a change skips it, at that change. So a day of 23, 24 or 25 hours (or of any
//    other length that a zone's law makes) is one period.
//  * Hours, minutes and seconds follow the local clock but are never longer than their unit. An
//    hour that the clock shows twice is two periods, and a change in the middle of an hour ends the
//    period. In Australia/Lord_Howe, where clocks change by 30 minutes, this gives half hours.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "core/time/calendar_start.h"

namespace tally {

// [start_ms, end_ms) in unix milliseconds, always whole seconds.
struct Period {
  int64_t start_ms = 0;
  int64_t end_ms = 0;

  bool Contains(int64_t at_ms) const { return start_ms <= at_ms && at_ms < end_ms; }
  friend bool operator==(const Period&, const Period&) = default;
};

// The period of `unit` in `zone` that holds `at_ms`, which is in [0, kMaxInstantMs].
Period PeriodContaining(int64_t at_ms, CalendarUnit unit, const CalendarStart& start,
                        const absl::TimeZone& zone);

// Days are numbered from 1970-01-01 = 0, by the zone's calendar.
Period DayPeriod(int32_t day, const absl::TimeZone& zone);

// Parses `yyyy-mm-dd` in exactly this form: an existing date, 1970 to 9999. Returns nullopt for
// anything else.
std::optional<int32_t> ParseDate(std::string_view text);
std::string FormatDate(int32_t day);

// A zone that remembers the period that it last found for each unit, so that a decision inside that
// period costs two comparisons. Must not be used by two threads at once.
class Zone {
 public:
  // Coordinated Universal Time.
  Zone();

  // `name` satisfies IsName(); the clocks are those of `zone`. Other code gets its zones from a
  // ZoneSource.
  Zone(std::string name, absl::TimeZone zone);

  // Whether a zone may have this name: an offset, or 1 to 64 letters, digits and `_+-/`, not `/`
  // first, and not `localtime`. It does not say that a source has the zone.
  static bool IsName(std::string_view name);
  // The zone of an offset from UTC, as `+08:00`, of at most 14 hours; UTC for none. Returns nullopt
  // for any other name.
  static std::optional<Zone> OfOffset(std::string_view name);
  // All names that OfOffset() reads.
  static std::vector<std::string> OffsetNames();
  // The id() of the zone of this name.
  static uint32_t IdOf(std::string_view name);
  // A zone for a stored name that a source lacks. It keeps the name, and its clocks show UTC.
  static Zone Missing(std::string_view name);

  const std::string& name() const { return name_; }
  bool is_missing() const { return is_missing_; }
  // A digest of the name that distinguishes zones in compact state: 0 for UTC. All names in today's
  // tzdata have different digests.
  uint32_t id() const { return id_; }
  const absl::TimeZone& time_zone() const { return zone_; }

  Period Containing(int64_t at_ms, CalendarUnit unit, const CalendarStart& start = {}) {
    if (start != CalendarStart()) return ContainingFrom(at_ms, unit, start);
    Period& found = found_[static_cast<size_t>(unit)];
    if (!found.Contains(at_ms)) found = PeriodContaining(at_ms, unit, start, zone_);
    return found;
  }
  int32_t DayOf(int64_t at_ms);

 private:
  struct NumberedDay {
    Period period;
    int32_t day = 0;
  };
  struct StartedPeriod {
    CalendarUnit unit = CalendarUnit::kDay;
    CalendarStart start;
    Period period;
  };

  Period ContainingFrom(int64_t at_ms, CalendarUnit unit, const CalendarStart& start);

  std::string name_;
  uint32_t id_ = 0;
  absl::TimeZone zone_;
  bool is_missing_ = false;
  std::array<Period, 7> found_{};  // by unit
  // Of units with a start of their own, each at a place by its code. Empty until one is asked for.
  std::vector<StartedPeriod> found_started_;
  NumberedDay found_day_;
};

}  // namespace tally
