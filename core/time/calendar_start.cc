#include "core/time/calendar_start.h"

#include <absl/strings/match.h>

#include <algorithm>
#include <array>

namespace tally {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"monday", "tuesday",  "wednesday", "thursday",
                                                   "friday", "saturday", "sunday"};
// February has 29: in other years that is the last day of it.
constexpr std::array<int, 12> kMonthDays = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

// Reads `text`, all of it, as a number of `least` to `most` digits; -1 if it is none.
int ReadDigits(std::string_view text, size_t least, size_t most) {
  if (text.size() < least || text.size() > most) return -1;
  int number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

// Reads hh:mm as the minute of the day; -1 if it is none.
int ReadClock(std::string_view text) {
  if (text.size() != 5 || text[2] != ':') return -1;
  const int hour = ReadDigits(text.substr(0, 2), 2, 2);
  const int minute = ReadDigits(text.substr(3), 2, 2);
  return hour < 0 || hour > 23 || minute < 0 || minute > 59 ? -1 : hour * 60 + minute;
}

std::optional<CalendarStart> StartOf(int month, int day, int minute) {
  if (month < 0 || day < 0 || minute < 0) return std::nullopt;
  return CalendarStart{.minute = static_cast<uint16_t>(minute),
                       .day = static_cast<uint8_t>(day),
                       .month = static_cast<uint8_t>(month)};
}

std::optional<CalendarStart> ParseWeekday(std::string_view text) {
  for (size_t day = 0; day < kDays.size(); ++day) {
    if (absl::EqualsIgnoreCase({text.data(), text.size()}, {kDays[day].data(), kDays[day].size()}))
      return StartOf(0, static_cast<int>(day), 0);
  }
  return std::nullopt;
}

std::optional<CalendarStart> ParseDayOfMonth(std::string_view text) {
  const size_t split = std::min(text.find_first_of("Tt"), text.size());
  const int day = ReadDigits(text.substr(0, split), 1, 2);
  const int minute = split == text.size() ? 0 : ReadClock(text.substr(split + 1));
  return day > 31 ? std::nullopt : StartOf(0, day - 1, minute);
}

std::optional<CalendarStart> ParseDayOfYear(std::string_view text) {
  if (text.size() != 5 || text[2] != '-') return std::nullopt;
  const int month = ReadDigits(text.substr(0, 2), 2, 2) - 1;
  const int day = ReadDigits(text.substr(3), 2, 2) - 1;
  if (month < 0 || month > 11 || day >= kMonthDays[static_cast<size_t>(month)]) return std::nullopt;
  return StartOf(month, day, 0);
}

std::string TwoDigits(int number) {
  return {static_cast<char>('0' + number / 10), static_cast<char>('0' + number % 10)};
}

std::string ClockText(int minute) { return TwoDigits(minute / 60) + ":" + TwoDigits(minute % 60); }

}  // namespace

std::optional<CalendarStart> CalendarStart::OfCode(uint64_t code, CalendarUnit unit) {
  constexpr uint64_t kMinutes = 1440;
  const uint64_t day = code / kMinutes;
  if (day >= 12 * 31) return std::nullopt;
  const CalendarStart start{.minute = static_cast<uint16_t>(code % kMinutes),
                            .day = static_cast<uint8_t>(day % 31),
                            .month = static_cast<uint8_t>(day / 31)};
  // Only a start that can be said in words exists.
  const auto said = ParseCalendarStart(FormatCalendarStart(start, unit), unit);
  if (said == start) return start;
  return std::nullopt;
}

std::optional<CalendarStart> ParseCalendarStart(std::string_view text, CalendarUnit unit) {
  switch (unit) {
    case CalendarUnit::kDay:
      return StartOf(0, 0, ReadClock(text));
    case CalendarUnit::kWeek:
      return ParseWeekday(text);
    case CalendarUnit::kMonth:
      return ParseDayOfMonth(text);
    case CalendarUnit::kYear:
      return ParseDayOfYear(text);
    default:
      return std::nullopt;
  }
}

std::string FormatCalendarStart(const CalendarStart& start, CalendarUnit unit) {
  switch (unit) {
    case CalendarUnit::kDay:
      return ClockText(start.minute);
    case CalendarUnit::kWeek:
      return std::string(start.day < kDays.size() ? kDays[start.day] : "");
    case CalendarUnit::kMonth: {
      std::string text = std::to_string(start.day + 1);
      if (start.minute != 0) text += "T" + ClockText(start.minute);
      return text;
    }
    case CalendarUnit::kYear:
      return TwoDigits(start.month + 1) + "-" + TwoDigits(start.day + 1);
    default:
      return {};
  }
}

std::string_view CalendarStartForm(CalendarUnit unit) {
  switch (unit) {
    case CalendarUnit::kDay:
      return "a time of the day, as 20:00";
    case CalendarUnit::kWeek:
      return "a day of the week, as sunday";
    case CalendarUnit::kMonth:
      return "a day of the month from 1 to 31, as 15 or 15T10:00";
    case CalendarUnit::kYear:
      return "a month and a day, as 04-06";
    default:
      return {};
  }
}

}  // namespace tally
