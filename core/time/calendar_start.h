// Where a calendar's day, week, month or year begins, if not at midnight of its first day: a
// customer's own billing day, a day that begins at 20:00, a fiscal year.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally {

enum class CalendarUnit : uint8_t { kSecond, kMinute, kHour, kDay, kWeek, kMonth, kYear };
// Their names, in that order.
inline constexpr std::string_view kUnitNames[] = {"second", "minute", "hour", "day",
                                                  "week",   "month",  "year"};
constexpr std::string_view NameOf(CalendarUnit unit) {
  return kUnitNames[static_cast<size_t>(unit)];
}

// Seconds, minutes and hours have none. The default is the calendar's own start; a week's is
// Monday.
struct CalendarStart {
  uint16_t minute = 0;  // of the day: DAY, MONTH
  uint8_t day = 0;      // from 0: of the week, from Monday on, or of the month: WEEK, MONTH, YEAR
  uint8_t month = 0;    // from 0: YEAR

  // A number for each start, which fits 20 bits; 0 is the default.
  uint32_t code() const { return (month * 31u + day) * 1440u + minute; }
  // Returns nullopt for a number that no start of this unit has.
  static std::optional<CalendarStart> OfCode(uint64_t code, CalendarUnit unit);

  friend bool operator==(const CalendarStart&, const CalendarStart&) = default;
};

inline constexpr CalendarStart kSundayWeek{.day = 6};

// Parses the start of a unit: day `20:00`, week `sunday`, month `1`-`31` or `15T10:00`, year
// `04-06`. The 29th to 31st of a month, and 29 February, are the last day of months and years
// without them. Returns nullopt for anything else, and for units that have no start.
std::optional<CalendarStart> ParseCalendarStart(std::string_view text, CalendarUnit unit);
// Returns a text that ParseCalendarStart reads.
std::string FormatCalendarStart(const CalendarStart& start, CalendarUnit unit);
// What a start of the unit must be, for people; empty if it has none.
std::string_view CalendarStartForm(CalendarUnit unit);

}  // namespace tally
