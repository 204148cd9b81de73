#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/active/active_set.h"
#include "core/tzdata/tzdata_zones.h"
#include "random_seed.h"

namespace tally::active_test {
namespace {

constexpr int64_t kDay = 86'400'000;
constexpr int64_t kT0 = 1'700'000'000'000;
constexpr int64_t kLater = 1'900'000'000'000;

ZoneSource& Zones() {
  static TzdataZones zones;
  return zones;
}

uint32_t Touch(ActiveSet& set, std::string_view id, int64_t at, int64_t now = -1) {
  return set.Touch({&id, 1}, at, now < 0 ? at : now);
}

std::unique_ptr<ActiveSet> Reloaded(const ActiveSet& set, size_t run_bytes) {
  auto loaded = std::make_unique<ActiveSet>(7, Zones());
  for (uint64_t cursor = 0;;) {
    std::string run;
    cursor = set.Save(cursor, run_bytes, run);
    REQUIRE(loaded->Load(run));
    if (cursor == 0) return loaded;
  }
}

TEST_CASE("ACTIVE: numbers are dense, given once, and kept") {
  ActiveSet set(1);
  for (uint32_t i = 1; i <= 300; ++i) CHECK(Touch(set, "user:" + std::to_string(i), kT0) == i);
  for (int i = 300; i >= 1; --i) {
    CHECK(set.Seen("user:" + std::to_string(i), kLater)->number == static_cast<uint32_t>(i));
  }
  CHECK_FALSE(set.Seen("user:301", kLater));
}

TEST_CASE("ACTIVE: online ends a window after the last event, to the millisecond") {
  ActiveSet set(1);
  CHECK(Touch(set, "a", kT0) == 1);
  CHECK(Touch(set, "b", kT0 + 1'500) == 2);
  CHECK(set.Online(kT0 + 299'999) == 2);
  CHECK(set.Online(kT0 + 300'000) == 1);
  CHECK(set.Online(kT0 + 301'499) == 1);
  CHECK(set.Online(kT0 + 301'500) == 0);
  // Looking does not change what later events see.
  CHECK(Touch(set, "a", kT0 + 2'000) == 2);
}

TEST_CASE("ACTIVE: a late event counts for its own day and never lowers last seen") {
  ActiveSet set(1);
  Touch(set, "a", kT0);
  const int32_t today = set.DayNumber(kT0);
  Touch(set, "a", kT0 - kDay, kT0 + 5);
  CHECK(set.Seen("a", kLater)->last_seen_ms == kT0);
  CHECK(set.Seen("a", kLater)->first_seen_ms == kT0 - kDay);
  CHECK(set.DayOf(today, kLater).active == 1);
  CHECK(set.DayOf(today - 1, kLater).active == 1);
  // Its first day is known now to be the day before.
  CHECK(set.DayOf(today, kLater).fresh == 0);
  CHECK(set.DayOf(today - 1, kLater).fresh == 1);
  CHECK(set.DayOf(today - 1, kLater).peak == 0);
  CHECK(set.UsersBetween(today - 1, today, kLater) == 1);
}

TEST_CASE("ACTIVE: the peak is that of every event, with its first instant") {
  ActiveSet set(1);
  for (int i = 0; i < 200; ++i) Touch(set, std::to_string(i), kT0 + i);
  Touch(set, "later", kT0 + 400'000);
  const ActiveSet::DayFigures day = set.DayOf(set.DayNumber(kT0), kLater);
  CHECK(day.peak == 200);
  CHECK(day.peak_at_ms == kT0 + 199);
  CHECK(day.active == 201);
}

TEST_CASE("ACTIVE: an event from the future does not stop the clock for the others") {
  ActiveSet set(1);
  Touch(set, "early bird", kT0 + 100 * kDay, kT0);
  for (int i = 0; i < 10; ++i) Touch(set, std::to_string(i), kT0 + i * 1'000);
  CHECK(set.Online(kT0 + 9'000) == 11);
  // It was one of kT0.
  CHECK(set.Online(kT0 + 299'999) == 11);
  CHECK(set.Online(kT0 + 300'000) == 9);
  CHECK(Touch(set, "last", kT0 + 400'000) == 1);
  CHECK(set.Seen("early bird", kLater)->last_seen_ms == kT0);
}

TEST_CASE("ACTIVE: a forgotten id comes back under another number") {
  ActiveSet set(1);
  Touch(set, "a", kT0);
  Touch(set, "bc", kT0);
  CHECK(set.Forget("a"));
  CHECK_FALSE(set.Forget("a"));
  CHECK_FALSE(set.Seen("a", kLater));
  CHECK(set.Online(kT0) == 1);
  CHECK(set.DayOf(set.DayNumber(kT0), kLater).active == 2);
  CHECK(Touch(set, "a", kT0) == 2);
  CHECK(set.Seen("a", kLater)->number == 3);
  std::vector<std::string> shown;
  const auto note = [&](std::string_view id, const ActiveSet::Sighting&) {
    shown.emplace_back(id);
  };
  CHECK(set.Scan(0, 2, note) == 2);
  CHECK(set.Scan(2, 2, note) == 0);
  CHECK(shown == std::vector<std::string>{"bc", "a"});
  CHECK(Reloaded(set, 10)->Seen("a", kLater)->number == 3);
}

TEST_CASE("ACTIVE: days and minutes are kept as long as asked, ids for ever") {
  ActiveOptions options;
  options.keep_ms = 2 * kDay;
  ActiveSet set(1, options);
  const int32_t first = set.DayNumber(kT0);
  Touch(set, "a", kT0);
  Touch(set, "b", kT0 + 2 * kDay);
  CHECK(set.DayOf(first, kLater).active == 1);
  Touch(set, "b", kT0 + 3 * kDay);
  CHECK(set.DayOf(first, kLater).active == 0);
  CHECK(set.Series(kT0, kT0 + kDay, kDay, kT0 + 3 * kDay)[0].second == 0);
  // A day that is gone does not come back in part.
  Touch(set, "c", kT0, kT0 + 3 * kDay);
  CHECK(set.DayOf(first, kLater).active == 0);
  CHECK(set.Seen("a", kLater)->number == 1);
}

TEST_CASE("ACTIVE: the days are those of the zone, also at daylight-saving changes") {
  ActiveOptions options;
  options.zone = *LoadZone("Europe/Berlin");
  ActiveSet set(1, options);
  const int32_t sunday = *ParseDate("2026-03-29");
  const Period day = DayPeriod(sunday, options.zone.time_zone());
  CHECK(day.end_ms - day.start_ms == 23 * 3'600'000);
  Touch(set, "before", day.start_ms - 1);
  Touch(set, "first", day.start_ms);
  Touch(set, "last", day.end_ms - 1);
  Touch(set, "after", day.end_ms);
  CHECK(set.DayOf(sunday, kLater).active == 2);
  CHECK(set.DayOf(sunday, kLater).fresh == 2);
  CHECK(set.DayOf(sunday, kLater).peak == 2);
  CHECK(set.DayOf(sunday, kLater).peak_at_ms == day.start_ms);
}

TEST_CASE("ACTIVE: a series shows the most of each step, also where nothing happened") {
  ActiveSet set(1);
  const int64_t minute = kT0 - kT0 % 60'000;
  Touch(set, "a", minute + 10'000);
  Touch(set, "b", minute + 20'000);
  const auto before = set.Series(minute - 60'000, minute + 420'000, 60'000, minute + 420'000);
  std::vector<uint32_t> most;
  for (const auto& [at, online] : before) most.push_back(online);
  CHECK(most == std::vector<uint32_t>{0, 2, 2, 2, 2, 2, 2, 0});
  // The same after an event has moved the clock on.
  Touch(set, "c", minute + 410'000);
  most.clear();
  for (const auto& [at, online] : set.Series(minute, minute + 420'000, 60'000, minute + 420'000)) {
    most.push_back(online);
  }
  CHECK(most == std::vector<uint32_t>{2, 2, 2, 2, 2, 2, 1});
}

TEST_CASE("ACTIVE: who was online when a day began counts for its peak") {
  ActiveSet set(1);
  const int64_t midnight = kT0 - kT0 % kDay + kDay;
  const int32_t day = set.DayNumber(midnight);
  for (const char* id : {"a", "b", "c"}) Touch(set, id, midnight - 60'000);
  // No event has come yet.
  CHECK(set.DayOf(day, midnight - 1).peak == 0);
  CHECK(set.DayOf(day, midnight).peak == 3);
  CHECK(set.DayOf(day, midnight).peak_at_ms == midnight);
  Touch(set, "d", midnight + 600'000);
  CHECK(set.DayOf(day, kLater).peak == 3);
  CHECK(set.DayOf(day, kLater).peak_at_ms == midnight);
  CHECK(set.DayOf(day, kLater).active == 1);
  CHECK(set.DayOf(day + 1, kLater).peak == 0);
  CHECK(Reloaded(set, 10)->DayOf(day, kLater).peak == 3);
}

TEST_CASE("ACTIVE: a window of days carries its ids over each midnight") {
  ActiveOptions options;
  options.window_ms = 3 * kDay;
  ActiveSet set(1, options);
  Touch(set, "a", kT0);
  const int32_t day = set.DayNumber(kT0);
  const auto peaks = [&] {
    std::vector<uint32_t> all;
    for (const auto& one : set.Days(day - 1, day + 5, kT0 + 20 * kDay)) all.push_back(one.peak);
    return all;
  };
  CHECK(peaks() == std::vector<uint32_t>{0, 1, 1, 1, 1, 0, 0});
  Touch(set, "b", kT0 + 5 * kDay);
  CHECK(peaks() == std::vector<uint32_t>{0, 1, 1, 1, 1, 0, 1});
}

TEST_CASE("ACTIVE: a clock that ran ahead and is set back takes nothing") {
  for (const int64_t ahead : {600'000 * int64_t{1}, 40 * kDay, 400 * kDay}) {
    INFO(ahead);
    ActiveSet set(1);
    const int32_t day = set.DayNumber(kT0);
    Touch(set, "yesterday", kT0 - kDay);
    Touch(set, "early", kT0);
    Touch(set, "ghost", kT0 + ahead);
    // Read as of now, before any event has come.
    const int64_t back = kT0 + 1'000;
    const bool dropped = ahead > 30 * kDay;
    CHECK(set.Seen("ghost", back)->last_seen_ms == back);
    CHECK(set.DayOf(day, back).active == (dropped ? 1 : 2));
    CHECK(set.DayOf(day + 1, back).active == 0);
    CHECK(set.UsersBetween(day, day + 1'000, back) == (dropped ? 1 : 2));
    CHECK(Touch(set, "x", back) == 3);
    for (const bool loaded : {false, true}) {
      const auto copy = loaded ? Reloaded(set, 10) : set.Clone();
      CHECK(copy->Seen("ghost", kLater)->last_seen_ms == back);
      CHECK(copy->Seen("ghost", kLater)->first_seen_ms == back);
      // What is known from the ids is known again of a day that was dropped.
      CHECK(copy->DayOf(day, kLater).active == 3);
      CHECK(copy->DayOf(day, kLater).fresh == 3);
      CHECK(copy->DayOf(day, kLater).peak == 3);
      CHECK(copy->DayOf(day - 1, kLater).active == (dropped ? 0 : 1));
      CHECK(copy->Online(back + 299'999) == 2);
      CHECK(copy->Online(back + 300'000) == 0);
      CHECK(Touch(*copy, "early", back + kDay) == 1);
      CHECK(copy->DayOf(day + 1, kLater).active == 1);
      CHECK(copy->DayOf(day + 1, kLater).peak == 1);
      CHECK(copy->UsersBetween(day, day + 1, kLater) == 3);
    }
  }
}

TEST_CASE("ACTIVE: days that only a jump made old are there again when the clock is set back") {
  ActiveSet set(1);
  const int32_t day = set.DayNumber(kT0);
  const std::string_view ghost[] = {"ghost"};
  Touch(set, "old", kT0 - 5 * kDay);
  Touch(set, "early", kT0);
  set.Touch(ghost, kT0 + 400 * kDay, kT0 + 400 * kDay, kT0);
  // What is read goes by now.
  CHECK(set.DayOf(day, kT0 + 400 * kDay).active == 0);
  CHECK(set.Series(kT0, kT0 + 1, 60'000, kT0 + 400 * kDay)[0].second == 0);
  CHECK(set.DayOf(day, kT0).active == 2);
  Touch(set, "early", kT0 + 1);
  CHECK(set.DayOf(day, kLater).active == 2);
  CHECK(set.DayOf(day - 5, kLater).active == 1);
  CHECK(set.Series(kT0, kT0 + 1, 60'000, kLater)[0].second == 2);
}

TEST_CASE("ACTIVE: a series is exact in a long silence") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  ActiveOptions options;
  options.window_ms = 31 * kDay - random.Between(0, 2'000);
  ActiveSet set(1, options);
  int64_t now = kT0;
  std::vector<int64_t> seen;
  for (int i = 0; i < 50'000; ++i) {
    now += random.Between(1, 107'000);
    Touch(set, std::to_string(i), now);
    seen.push_back(now);
  }
  const int64_t begin = now - now % ActiveSet::kMinuteMs + ActiveSet::kMinuteMs;
  const int64_t end = begin + static_cast<int64_t>(ActiveSet::kMaxSeriesSteps) * 60'000;
  const auto series = set.Series(begin, end, 60'000, end);
  // To count anew for each step would take seconds.
  REQUIRE(series.size() == ActiveSet::kMaxSeriesSteps);
  for (const auto& [at, online] : series) {
    const auto first = std::upper_bound(seen.begin(), seen.end(), at - options.window_ms);
    REQUIRE(online == seen.end() - first);
  }
}

TEST_CASE("ACTIVE: an id of 32 bytes costs at most 48, everything included") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  ActiveSet set(1);
  constexpr int kIds = 200'000;
  std::string id(32, '0');
  for (int i = 0; i < kIds; ++i) {
    for (size_t c = 0; c < id.size(); ++c) id[c] = "0123456789abcdef"[random.Below(16)];
    Touch(set, id, kT0 + i * 10);
  }
  CHECK(set.size() == kIds);
  CHECK(set.MemoryBytes() <= size_t{48} * kIds);
  while (!set.FreeSome(10'000)) continue;
}

// Whatever was believed can be used, and what comes of it can be saved and loaded.
void UseAndReload(ActiveSet& set, test::SeededRandom& random) {
  for (int i = 0; i < 5; ++i) {
    const int64_t now = kT0 + random.Between(-kDay, kDay);
    const std::string id = std::to_string(random.Below(21));
    if (random.OneIn(4)) {
      set.Forget(id);
    } else {
      Touch(set, id, now - (random.OneIn(2) ? random.Between(0, 2 * kDay) : 0), now);
    }
  }
  const auto loaded = Reloaded(set, 100);
  CHECK(loaded->size() == set.size());
  CHECK(loaded->UsersBetween(0, 30'000, kLater) == set.UsersBetween(0, 30'000, kLater));
  const int64_t from = kT0 - 2 * kDay;
  CHECK(loaded->Series(from, kT0 + 2 * kDay, 60'000, kLater) ==
        set.Series(from, kT0 + 2 * kDay, 60'000, kLater));
  for (int32_t day = 19'670; day < 19'680; ++day) {
    CHECK(loaded->DayOf(day, kLater).fresh == set.DayOf(day, kLater).fresh);
    CHECK(loaded->DayOf(day, kLater).peak_at_ms == set.DayOf(day, kLater).peak_at_ms);
  }
}

TEST_CASE("ACTIVE: malformed runs are refused") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  ActiveSet set(1);
  for (int i = 0; i < 20; ++i) Touch(set, std::to_string(i * i), kT0 + i * 70'000);
  std::vector<std::string> runs;
  for (uint64_t cursor = 0;;) {
    runs.emplace_back();
    cursor = set.Save(cursor, 1'000, runs.back());
    if (cursor == 0) break;
  }
  for (int i = 0; i < 5'000; ++i) {
    ActiveSet loaded(1, Zones());
    const size_t broken = random.Below(runs.size());
    for (size_t r = 0; r < runs.size(); ++r) {
      std::string run = runs[r];
      if (r == broken) {
        run.resize(random.Below(run.size() + 1));
        for (uint64_t n = random.Below(3); n > 0 && !run.empty(); --n) {
          run[random.Below(run.size())] = static_cast<char>(random.Next());
        }
      }
      if (!loaded.Load(run)) break;
      if (r + 1 == runs.size()) UseAndReload(loaded, random);
    }
  }
}

}  // namespace
}  // namespace tally::active_test
