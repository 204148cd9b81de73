#include "core/time/calendar.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/civil_time.h"
#include "core/time/duration.h"
#include "core/tzdata/tzdata_zones.h"
#include "random_seed.h"

namespace tally::calendar_test {
namespace {

constexpr int64_t kHour = 3'600'000;

Zone Load(std::string_view name) {
  std::optional<Zone> zone = LoadZone(name);
  INFO(name);
  REQUIRE(zone.has_value());
  return *zone;
}

int64_t Utc(const char* text) {
  absl::Time time;
  std::string error;
  REQUIRE(absl::ParseTime("%Y-%m-%d %H:%M:%E*S", text, absl::UTCTimeZone(), &time, &error));
  return absl::ToUnixMillis(time);
}

TEST_CASE("an unknown zone, or a name that is a path, is no zone") {
  for (const char* name : {"", "Asia/Nowhere", "/etc/localtime", "../../etc/passwd", "localtime",
                           "file:/etc/localtime", "Asia/Shanghai ", "Fixed/UTC+01:00:00"}) {
    INFO(name);
    CHECK_FALSE(LoadZone(name));
  }
  CHECK_FALSE(LoadZone(std::string(1000, 'a')));
  CHECK(Load("Asia/Shanghai").name() == "Asia/Shanghai");
  CHECK(Zone().name() == "UTC");
  CHECK(Zone().id() == 0);
}

TEST_CASE("the zones of the system have ids of their own") {
  const std::filesystem::path root = "/usr/share/zoneinfo";
  std::set<uint32_t> ids{0};
  size_t zones = 1;
  for (const char* folder : {"Africa", "America", "Asia", "Atlantic", "Australia", "Europe", "Etc",
                             "Indian", "Pacific"}) {
    if (!std::filesystem::exists(root / folder)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!entry.is_regular_file()) continue;
      ids.insert(Load(entry.path().lexically_relative(root).string()).id());
      ++zones;
    }
  }
  CHECK(zones > 300);
  CHECK(ids.size() == zones);
}

TEST_CASE("the day of Asia/Shanghai begins at 16:00 UTC") {
  Zone zone = Load("Asia/Shanghai");
  const Period day{Utc("2026-03-01 16:00:00"), Utc("2026-03-02 16:00:00")};
  CHECK(zone.Containing(day.start_ms, CalendarUnit::kDay) == day);
  CHECK(zone.Containing(day.end_ms - 1, CalendarUnit::kDay) == day);
  CHECK(zone.Containing(day.end_ms, CalendarUnit::kDay).start_ms == day.end_ms);
  CHECK(zone.Containing(day.start_ms - 1, CalendarUnit::kDay).end_ms == day.start_ms);
}

TEST_CASE("days at daylight-saving changes have 23 and 25 hours") {
  Zone zone = Load("Europe/Berlin");
  const Period spring = zone.Containing(Utc("2026-03-29 12:00:00"), CalendarUnit::kDay);
  CHECK(spring == Period{Utc("2026-03-28 23:00:00"), Utc("2026-03-29 22:00:00")});
  const Period autumn = zone.Containing(Utc("2026-10-25 12:00:00"), CalendarUnit::kDay);
  CHECK(autumn == Period{Utc("2026-10-24 22:00:00"), Utc("2026-10-25 23:00:00")});
}

TEST_CASE("an hour shown twice is two periods of an hour each") {
  Zone zone = Load("America/New_York");
  const int64_t first = Utc("2026-11-01 05:00:00");  // 01:00 EDT
  CHECK(zone.Containing(first + 5, CalendarUnit::kHour) == Period{first, first + kHour});
  CHECK(zone.Containing(first + kHour, CalendarUnit::kHour) ==
        Period{first + kHour, first + 2 * kHour});
}

TEST_CASE("a half-hour change gives half hours") {
  Zone zone = Load("Australia/Lord_Howe");
  // 2026-10-04 02:00 (+10:30) becomes 02:30 (+11).
  const int64_t spring = Utc("2026-10-03 15:30:00");
  CHECK(zone.Containing(spring - 1, CalendarUnit::kHour) == Period{spring - kHour, spring});
  CHECK(zone.Containing(spring, CalendarUnit::kHour) == Period{spring, spring + kHour / 2});
  // 2026-04-05 02:00 (+11) becomes 01:30 (+10:30).
  const int64_t autumn = Utc("2026-04-04 15:00:00");
  CHECK(zone.Containing(autumn - 1, CalendarUnit::kHour) == Period{autumn - kHour, autumn});
  CHECK(zone.Containing(autumn, CalendarUnit::kHour) == Period{autumn, autumn + kHour / 2});
  const Period day = zone.Containing(autumn, CalendarUnit::kDay);
  CHECK(day.end_ms - day.start_ms == 24 * kHour + kHour / 2);
}

TEST_CASE("odd offsets: hours of Kathmandu begin at a quarter past in UTC") {
  Zone zone = Load("Asia/Kathmandu");
  CHECK(zone.Containing(Utc("2026-05-01 12:20:00"), CalendarUnit::kHour) ==
        Period{Utc("2026-05-01 12:15:00"), Utc("2026-05-01 13:15:00")});
}

TEST_CASE("a day whose midnight is skipped begins at the change") {
  Zone zone = Load("America/Sao_Paulo");
  // 2018-11-04 00:00 (-03) became 01:00 (-02).
  CHECK(zone.Containing(Utc("2018-11-04 12:00:00"), CalendarUnit::kDay) ==
        Period{Utc("2018-11-04 03:00:00"), Utc("2018-11-05 02:00:00")});
}

TEST_CASE("a day whose midnight comes twice begins at the first") {
  Zone zone = Load("America/St_Johns");
  // 2010-11-07 00:01 (-02:30) became 2010-11-06 23:01 (-03:30).
  const int64_t first_midnight = Utc("2010-11-07 02:30:00");
  const Period day = zone.Containing(first_midnight + kHour / 2, CalendarUnit::kDay);
  CHECK(day.start_ms == first_midnight);
  CHECK(day.end_ms == Utc("2010-11-08 03:30:00"));
  CHECK(FormatDate(zone.DayOf(first_midnight + kHour / 2)) == "2010-11-07");
}

TEST_CASE("weeks begin on Monday or Sunday") {
  Zone zone;
  const int64_t wednesday = Utc("2026-03-04 10:00:00");
  CHECK(zone.Containing(wednesday, CalendarUnit::kWeek) ==
        Period{Utc("2026-03-02 00:00:00"), Utc("2026-03-09 00:00:00")});
  CHECK(zone.Containing(wednesday, CalendarUnit::kWeek, kSundayWeek) ==
        Period{Utc("2026-03-01 00:00:00"), Utc("2026-03-08 00:00:00")});
  const int64_t sunday = Utc("2026-03-01 00:00:00");
  CHECK(zone.Containing(sunday, CalendarUnit::kWeek, kSundayWeek).start_ms == sunday);
  CHECK(zone.Containing(sunday, CalendarUnit::kWeek).end_ms == Utc("2026-03-02 00:00:00"));
}

TEST_CASE("a period begins where its start says") {
  Zone zone = Load("Europe/Berlin");
  const auto holding = [&](const char* at, CalendarUnit unit, const char* start) {
    return zone.Containing(Utc(at), unit, *ParseCalendarStart(start, unit));
  };
  CHECK(holding("2026-07-01 17:59:59", CalendarUnit::kDay, "20:00") ==
        Period{Utc("2026-06-30 18:00:00"), Utc("2026-07-01 18:00:00")});
  CHECK(holding("2026-02-28 12:00:00", CalendarUnit::kMonth, "31") ==
        Period{Utc("2026-02-27 23:00:00"), Utc("2026-03-30 22:00:00")});
  CHECK(holding("2026-02-15 08:59:59", CalendarUnit::kMonth, "15T10:00") ==
        Period{Utc("2026-01-15 09:00:00"), Utc("2026-02-15 09:00:00")});
  CHECK(holding("2026-03-01 00:00:00", CalendarUnit::kYear, "02-29") ==
        Period{Utc("2026-02-27 23:00:00"), Utc("2027-02-27 23:00:00")});
  CHECK(holding("2028-02-28 23:00:00", CalendarUnit::kYear, "02-29").start_ms ==
        Utc("2028-02-28 23:00:00"));
  // 02:30 is skipped on 2026-03-29, and comes twice on 2026-10-25.
  CHECK(holding("2026-03-29 01:00:00", CalendarUnit::kDay, "02:30").start_ms ==
        Utc("2026-03-29 01:00:00"));
  CHECK(holding("2026-10-25 01:10:00", CalendarUnit::kDay, "02:30").start_ms ==
        Utc("2026-10-25 00:30:00"));
  CHECK(Zone::OfOffset("+08:00")
            ->Containing(Utc("2026-03-01 16:00:00"), CalendarUnit::kDay)
            .start_ms == Utc("2026-03-01 16:00:00"));
  CHECK(Zone::OfOffset("-00:00")->id() == 0);
  for (const char* name : {"+14:01", "+8:00", "+0800", "08:00", "+08:60", "+15:00"}) {
    CHECK_FALSE(Zone::OfOffset(name));
  }
}

TEST_CASE("leap days, century years and 2038 are ordinary") {
  Zone zone;
  const auto month_days = [&](const char* text) {
    const Period month = zone.Containing(Utc(text), CalendarUnit::kMonth);
    return (month.end_ms - month.start_ms) / (24 * kHour);
  };
  CHECK(month_days("2024-02-29 23:59:59.999") == 29);
  CHECK(month_days("2026-02-28 23:59:59.999") == 28);
  CHECK(month_days("2100-02-01 00:00:00") == 28);
  CHECK(month_days("2000-02-01 00:00:00") == 29);
  CHECK(zone.Containing(Utc("2038-01-19 03:14:08"), CalendarUnit::kYear) ==
        Period{Utc("2038-01-01 00:00:00"), Utc("2039-01-01 00:00:00")});
  CHECK(zone.Containing(kMaxInstantMs, CalendarUnit::kYear).end_ms == kMaxInstantMs + 1);
  CHECK(zone.Containing(0, CalendarUnit::kYear).start_ms == 0);
}

TEST_CASE("dates are read strictly and written back") {
  CHECK(ParseDate("1970-01-01") == 0);
  CHECK(ParseDate("2024-02-29") == 19'782);
  CHECK(FormatDate(19'782) == "2024-02-29");
  CHECK(ParseDate("9999-12-31").has_value());
  for (const char* text :
       {"", "2026-02-29", "2026-13-01", "2026-00-10", "2026-01-00", "2026-04-31", "1969-12-31",
        "2026-1-01", "26-01-01", "2026/01/01", "2026-01-01 ", "+026-01-01", "today"}) {
    INFO(text);
    CHECK_FALSE(ParseDate(text));
  }
}

TEST_CASE("the periods of every unit cover the time line, and clock units keep their length") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  constexpr int64_t kLongest[] = {1'000,       60'000,      kHour,        50 * kHour,
                                  194 * kHour, 770 * kHour, 8'900 * kHour};
  for (const char* name : {"UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu",
                           "America/St_Johns", "America/Sao_Paulo", "Pacific/Apia", "Asia/Shanghai",
                           "Africa/Casablanca", "America/Havana"}) {
    Zone zone = Load(name);
    for (int i = 0; i < 300; ++i) {
      // From where no zone is still in 1969, which is no date here.
      const int64_t at = random.Between(2 * 24 * kHour, 4'000'000'000'000);
      const auto unit = static_cast<CalendarUnit>(random.Below(7));
      const Period period = zone.Containing(at, unit);
      INFO(name << " unit " << static_cast<int>(unit) << " at " << at);
      REQUIRE(period.Contains(at));
      REQUIRE(period == PeriodContaining(at, unit, CalendarStart(), zone.time_zone()));
      REQUIRE(zone.Containing(period.end_ms, unit).start_ms == period.end_ms);
      REQUIRE(period.end_ms - period.start_ms <= kLongest[static_cast<int>(unit)]);
      const int32_t day = zone.DayOf(at);
      REQUIRE(DayPeriod(day, zone.time_zone()).Contains(at));
      REQUIRE(ParseDate(FormatDate(day)) == day);
    }
  }
}

TEST_CASE("periods around every change of a year join without gaps") {
  for (const char* name : {"Europe/Berlin", "Australia/Lord_Howe", "America/St_Johns"}) {
    Zone zone = Load(name);
    for (const CalendarUnit unit : {CalendarUnit::kMinute, CalendarUnit::kHour}) {
      absl::TimeZone::CivilTransition change;
      absl::Time from = absl::FromUnixSeconds(1'250'000'000);
      for (int i = 0; i < 4 && zone.time_zone().NextTransition(from, &change); ++i) {
        from = zone.time_zone().At(change.to).trans;
        int64_t at = absl::ToUnixMillis(from) - 2 * kHour;
        for (int step = 0; step < 200; ++step) {
          const Period period = zone.Containing(at, unit);
          INFO(name << " at " << at);
          REQUIRE(period.start_ms <= at);
          REQUIRE(period.end_ms > at);
          if (step > 0) REQUIRE(period.start_ms == at);
          at = period.end_ms;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tally::calendar_test
