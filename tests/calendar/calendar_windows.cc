// Reads lines `zone unit start at_ms`, where a start of - is the calendar's own, and writes the
// begin and the end of the period that holds the instant, for calendar_test.py.
#include <array>
#include <iostream>
#include <string>

#include "core/limit/limit_show.h"
#include "core/tzdata/tzdata_zones.h"

int main() {
  std::ios::sync_with_stdio(false);
  tally::TzdataZones zones;
  std::array<std::string, 3> words;
  int64_t at_ms = 0;
  while (std::cin >> words[0] >> words[1] >> words[2] >> at_ms) {
    const auto& [name, unit_word, start_word] = words;
    tally::Zone* zone = zones.Find(name);
    auto unit = tally::CalendarUnit::kSecond;
    while (unit != tally::CalendarUnit::kYear && tally::NameOf(unit) != unit_word) {
      unit = static_cast<tally::CalendarUnit>(static_cast<int>(unit) + 1);
    }
    std::optional<tally::CalendarStart> start = tally::CalendarStart();
    if (start_word != "-") start = tally::ParseCalendarStart(start_word, unit);
    if (zone == nullptr || tally::NameOf(unit) != unit_word || !start) {
      std::cerr << "not a period: " << name << ' ' << unit_word << ' ' << start_word << '\n';
      return 1;
    }
    const tally::Period period = zone->Containing(at_ms, unit, *start);
    std::cout << period.start_ms << ' ' << period.end_ms << '\n';
  }
}
