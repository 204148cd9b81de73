#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/active/active_set.h"
#include "core/tzdata/tzdata_zones.h"
#include "random_seed.h"

namespace tally {
namespace {

constexpr int64_t kDay = 86'400'000;
constexpr int64_t kT0 = 1'700'000'000'000;

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
    CHECK(set.Seen("user:" + std::to_string(i))->number == static_cast<uint32_t>(i));
  }
  CHECK_FALSE(set.Seen("user:301"));
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
  CHECK(set.Seen("a")->last_seen == kT0);
  CHECK(set.Seen("a")->first_seen == kT0 - kDay);
  CHECK(set.DayOf(today).active == 1);
  CHECK(set.DayOf(today - 1).active == 1);
  // Its first day is known now to be the day before.
  CHECK(set.DayOf(today).fresh == 0);
  CHECK(set.DayOf(today - 1).fresh == 1);
  CHECK(set.DayOf(today - 1).peak == 0);
  CHECK(set.UsersBetween(today - 1, today) == 1);
}

TEST_CASE("ACTIVE: the peak is that of every event, with its first instant") {
  ActiveSet set(1);
  for (int i = 0; i < 200; ++i) Touch(set, std::to_string(i), kT0 + i);
  Touch(set, "later", kT0 + 400'000);
  const ActiveSet::DayFigures day = set.DayOf(set.DayNumber(kT0));
  CHECK(day.peak == 200);
  CHECK(day.peak_at == kT0 + 199);
  CHECK(day.active == 201);
}

TEST_CASE("ACTIVE: an event from the future does not stop the clock for the others") {
  ActiveSet set(1);
  Touch(set, "early bird", kT0 + 100 * kDay, kT0);
  for (int i = 0; i < 10; ++i) Touch(set, std::to_string(i), kT0 + i * 1'000);
  CHECK(set.Online(kT0 + 9'000) == 11);
  CHECK(set.Online(kT0 + 400'000) == 1);
  CHECK(Touch(set, "last", kT0 + 400'000) == 2);
}

TEST_CASE("ACTIVE: a forgotten id comes back under another number") {
  ActiveSet set(1);
  Touch(set, "a", kT0);
  Touch(set, "bc", kT0);
  CHECK(set.Forget("a"));
  CHECK_FALSE(set.Forget("a"));
  CHECK_FALSE(set.Seen("a"));
  CHECK(set.Online(kT0) == 1);
  CHECK(set.DayOf(set.DayNumber(kT0)).active == 2);
  CHECK(Touch(set, "a", kT0) == 2);
  CHECK(set.Seen("a")->number == 3);
  std::vector<std::string> shown;
  const auto note = [&](std::string_view id, const ActiveSet::Sighting&) {
    shown.emplace_back(id);
  };
  CHECK(set.Scan(0, 2, note) == 2);
  CHECK(set.Scan(2, 2, note) == 0);
  CHECK(shown == std::vector<std::string>{"bc", "a"});
  CHECK(Reloaded(set, 10)->Seen("a")->number == 3);
}

TEST_CASE("ACTIVE: days and minutes are kept as long as asked, ids for ever") {
  ActiveOptions options;
  options.keep_ms = 2 * kDay;
  ActiveSet set(1, options);
  const int32_t first = set.DayNumber(kT0);
  Touch(set, "a", kT0);
  Touch(set, "b", kT0 + 2 * kDay);
  CHECK(set.DayOf(first).active == 1);
  Touch(set, "b", kT0 + 3 * kDay);
  CHECK(set.DayOf(first).active == 0);
  CHECK(set.Series(kT0, kT0 + kDay, kDay, kT0 + 3 * kDay)[0].second == 0);
  // A day that is gone does not come back in part.
  Touch(set, "c", kT0, kT0 + 3 * kDay);
  CHECK(set.DayOf(first).active == 0);
  CHECK(set.Seen("a")->number == 1);
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
  CHECK(set.DayOf(sunday).active == 2);
  CHECK(set.DayOf(sunday).fresh == 2);
  CHECK(set.DayOf(sunday).peak == 2);
  CHECK(set.DayOf(sunday).peak_at == day.start_ms);
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

// Every event, looked at anew for each question.
struct Model {
  struct Event {
    std::string id;
    int64_t at;
    int64_t evaluated;
  };
  std::vector<Event> events;
  int64_t window;

  uint32_t Online(int64_t t) const {
    std::set<std::string> online;
    for (const Event& event : events) {
      if (t - window < event.at) online.insert(event.id);
    }
    return static_cast<uint32_t>(online.size());
  }
};

TEST_CASE("ACTIVE agrees with a list of all events, late and future ones included") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 3; ++round) {
    ActiveOptions options;
    options.window_ms = round == 0 ? 300'000 : random.Between(1, 2'000'000);
    options.zone = *LoadZone("Australia/Lord_Howe");
    Zone zone = options.zone;
    auto set = std::make_unique<ActiveSet>(random.Next(), options);
    Model model{{}, options.window_ms};
    std::map<int32_t, std::pair<uint32_t, int64_t>> peaks;
    std::map<std::string, uint32_t> numbers;
    int64_t now = 1'775'200'000'000;
    int64_t latest = 0;
    int64_t evaluated = 0;
    for (int step = 0; step < 700; ++step) {
      now += random.OneIn(20) ? options.window_ms - random.Between(0, 1)
                              : random.Between(0, options.window_ms / 10);
      int64_t at = now;
      if (random.OneIn(5)) at -= random.Between(0, 2 * options.window_ms + kDay / 4);
      if (random.OneIn(50)) at += random.Between(0, options.window_ms);
      const std::string id = "id" + std::to_string(random.Below(60));
      latest = std::max(latest, at);
      evaluated = std::max(evaluated, std::min(latest, now));
      model.events.push_back({id, at, evaluated});
      numbers.emplace(id, static_cast<uint32_t>(numbers.size() + 1));
      INFO("step " << step << " window " << options.window_ms);
      REQUIRE(Touch(*set, id, at, now) == model.Online(now));
      const uint32_t online = model.Online(evaluated);
      auto& [peak, peak_at] = peaks[zone.DayOf(evaluated)];
      if (online > peak) std::tie(peak, peak_at) = std::pair(online, evaluated);
      REQUIRE(set->Online(now) == model.Online(now));
      const int64_t other = now + random.Between(-options.window_ms, options.window_ms);
      REQUIRE(set->Online(other) == model.Online(other));
      if (step % 200 == 150) set = random.OneIn(2) ? Reloaded(*set, 64) : set->Clone();
    }
    std::map<int32_t, std::set<std::string>> active;
    std::map<std::string, std::pair<int64_t, int64_t>> seen;
    for (const Model::Event& event : model.events) {
      active[zone.DayOf(event.at)].insert(event.id);
      auto& [first, last] = seen.emplace(event.id, std::pair(event.at, event.at)).first->second;
      first = std::min(first, event.at);
      last = std::max(last, event.at);
    }
    std::map<int32_t, int64_t> fresh;
    for (const auto& [id, span] : seen) {
      ++fresh[zone.DayOf(span.first)];
      const std::optional<ActiveSet::Sighting> sighting = set->Seen(id);
      REQUIRE(sighting);
      REQUIRE(sighting->number == numbers[id]);
      REQUIRE(sighting->first_seen == span.first);
      REQUIRE(sighting->last_seen == span.second);
    }
    std::set<std::string> all;
    for (const auto& [day, ids] : active) {
      INFO("day " << day);
      REQUIRE(set->DayOf(day).active == ids.size());
      REQUIRE(set->DayOf(day).fresh == fresh[day]);
      REQUIRE(set->DayOf(day).peak == peaks[day].first);
      REQUIRE(set->DayOf(day).peak_at == peaks[day].second);
      all.insert(ids.begin(), ids.end());
      REQUIRE(set->UsersBetween(active.begin()->first, day) == all.size());
    }
  }
}

TEST_CASE("ACTIVE: a series is exact in a long silence") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  ActiveOptions options;
  options.window_ms = 31 * kDay + random.Between(0, 2'000);
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
      // Whatever was believed can be used.
      if (r + 1 == runs.size()) Touch(loaded, "one more", kT0 + kDay);
    }
  }
}

}  // namespace
}  // namespace tally
