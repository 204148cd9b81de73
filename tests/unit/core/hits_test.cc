#include "core/hits/hits.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/time/duration.h"
#include "random_seed.h"

namespace tally::hits_test {
namespace {

constexpr int64_t kDay = 86'400'000;
constexpr int64_t kT0 = 1'700'000'000'000;

TEST_CASE("HITS: every one of many additions is answered by its own number") {
  Hits hits;
  for (int64_t i = 1; i <= 1'000; ++i) REQUIRE(hits.Add(1, kDay, kT0, kT0) == i);
  CHECK(hits.ExpiresAt() == kT0 + kDay);
}

TEST_CASE("HITS: the window is half open") {
  Hits hits;
  CHECK(hits.Add(1, 1'000, kT0, kT0) == 1);
  CHECK(hits.Add(1, 1'000, kT0 + 999, kT0 + 999) == 2);
  CHECK(hits.Count(1'000, kT0 + 999, kT0 + 999) == 2);
  CHECK(hits.Count(1'000, kT0 + 1'000, kT0 + 1'000) == 1);
  CHECK(hits.Add(1, 1'000, kT0 + 1'000, kT0 + 1'000) == 2);
}

TEST_CASE("HITS: a full window answers nothing, adds nothing, and recovers by itself") {
  Hits hits;
  for (int i = 0; i < 3; ++i) CHECK(hits.Add(1, 1'000, kT0 + i, kT0 + i, 3));
  CHECK_FALSE(hits.Add(1, 1'000, kT0 + 999, kT0 + 999, 3));
  CHECK(hits.Count(1'000, kT0 + 999, kT0 + 999) == 3);
  CHECK(hits.Add(1, 1'000, kT0 + 1'000, kT0 + 1'000, 3) == 3);
  Hits none;
  CHECK_FALSE(none.Add(1, 1'000, kT0, kT0, 0));
  CHECK(none.empty());
}

TEST_CASE("HITS: what keeps no hit changes nothing, not even what has expired") {
  Hits hits;
  for (int i = 0; i < 10; ++i) hits.Add(1, 1'000, kT0 + i * 100, kT0 + i * 100);
  std::string before;
  hits.Save(0, 10'000, before);
  const int64_t now = kT0 + 1'500;
  CHECK_FALSE(hits.Add(1, 1'000, now, now, 0));
  CHECK(hits.Add(0, 1'000, now, now) == 4);
  CHECK(hits.Add(1, 1'000, now - 1'000, now) == 5);  // too late to be kept
  CHECK(hits.Undo(0, now) == 4);
  std::string after;
  hits.Save(0, 10'000, after);
  CHECK(after == before);
  CHECK(hits.Undo(1, now) == 3);
}

TEST_CASE("HITS: a late hit outside the window gets the same reply and is not kept") {
  Hits hits;
  CHECK(hits.Add(1, 1'000, kT0 - 1'000, kT0) == 1);
  CHECK(hits.empty());
  CHECK(hits.Add(1, 1'000, kT0 - 999, kT0) == 1);
  CHECK(hits.Count(1'000, kT0, kT0) == 1);
  CHECK(hits.Count(1'000, kT0 + 1, kT0 + 1) == 0);
}

TEST_CASE("HITS: the key keeps the longest window that was given") {
  Hits hits;
  hits.Add(1, 10'000, kT0, kT0);
  CHECK(hits.Add(1, 1'000, kT0 + 5'000, kT0 + 5'000) == 1);
  CHECK(hits.window_ms() == 10'000);
  CHECK(hits.Count(hits.window_ms(), kT0 + 5'000, kT0 + 5'000) == 2);
  CHECK(hits.ExpiresAt() == kT0 + 15'000);
}

TEST_CASE("HITS: undo takes the newest back, not more than there are") {
  Hits hits;
  hits.Add(2, 1'000, kT0, kT0);
  hits.Add(1, 1'000, kT0 + 500, kT0 + 500);
  CHECK(hits.Undo(1, kT0 + 600) == 2);
  CHECK(hits.ExpiresAt() == kT0 + 1'000);
  CHECK(hits.Undo(100, kT0 + 600) == 0);
  CHECK(hits.ExpiresAt() == 0);
}

TEST_CASE("HITS: 64-bit edges") {
  Hits hits;
  CHECK(hits.Add(INT64_MAX, kMaxDurationMs, kMaxInstantMs, kMaxInstantMs) == INT64_MAX);
  CHECK(hits.Add(1, kMaxDurationMs, kMaxInstantMs, kMaxInstantMs) == INT64_MAX);
  CHECK_FALSE(hits.Add(1, kMaxDurationMs, kMaxInstantMs, kMaxInstantMs, INT64_MAX - 1));
  CHECK(hits.Count(kMaxDurationMs, kMaxInstantMs, kMaxInstantMs) == INT64_MAX);
}

TEST_CASE("HITS agree with a list of all hits") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  constexpr int64_t kWindow = 10'000;
  Hits hits;
  std::vector<int64_t> model;
  int64_t now = kT0;
  const auto inside = [&](int64_t window, int64_t e) {
    return std::count_if(model.begin(), model.end(), [&](int64_t at) { return e - window < at; });
  };
  for (int step = 0; step < 4'000; ++step) {
    now += random.OneIn(50) && !hits.empty()
               ? std::max<int64_t>(0, hits.ExpiresAt() - now - random.Between(0, 1))
               : random.Between(0, 60);
    INFO("step " << step);
    if (random.OneIn(8)) {
      const int64_t count = random.Between(0, 5);
      std::sort(model.begin(), model.end());
      std::erase_if(model, [&](int64_t at) { return at <= now - kWindow; });
      model.resize(model.size() - std::min<size_t>(model.size(), static_cast<size_t>(count)));
      REQUIRE(hits.Undo(count, now) == static_cast<int64_t>(model.size()));
      continue;
    }
    const int64_t at = random.OneIn(3) ? now + random.Between(-2 * kWindow, 0) : now;
    const int64_t count = random.Between(1, 3);
    const int64_t held = inside(kWindow, now);
    REQUIRE(hits.Add(count, kWindow, at, now) == held + count);
    if (at > now - kWindow) model.insert(model.end(), static_cast<size_t>(count), at);
    const int64_t window = random.Between(1, kWindow);
    REQUIRE(hits.Count(window, now, now) == inside(window, now));
    if (step % 100 == 0) {
      const int64_t from = now - kWindow + random.Between(1, 1'000);
      const int64_t length = random.Between(1, 700);
      const std::vector<int64_t> steps = hits.Range(from, now, length, now);
      for (size_t i = 0; i < steps.size(); ++i) {
        const int64_t begin = from + static_cast<int64_t>(i) * length;
        const int64_t end = std::min(now, begin + length);
        REQUIRE(steps[i] == std::count_if(model.begin(), model.end(),
                                          [&](int64_t hit) { return begin <= hit && hit < end; }));
      }
      Hits loaded;
      for (uint64_t cursor = 0;;) {
        std::string run;
        cursor = hits.Save(cursor, 100, run);
        REQUIRE(loaded.Load(run));
        if (cursor == 0) break;
      }
      REQUIRE(loaded.ExpiresAt() == hits.ExpiresAt());
      hits = *loaded.Clone();
    }
  }
}

TEST_CASE("HITS: with a cap, late hits are limited in their own time") {
  for (const int64_t late_ms : {0, 300, 900, 1'000, 5'000, 3'600'000}) {
    INFO("late by " << late_ms);
    Hits hits;
    std::vector<int64_t> added;
    for (int64_t now = kT0; now < kT0 + 20'000; now += 50) {
      const int64_t at = now - late_ms;
      const bool has = hits.Add(1, 1'000, at, now, 5).has_value();
      if (has) added.push_back(at);
      REQUIRE(hits.ExpiresAt() > now);
      REQUIRE(hits.ExpiresAt() <= now + 1'000);
    }
    CHECK(added.size() == 100);
    for (size_t i = 5; i < added.size(); ++i) REQUIRE(added[i] - added[i - 5] >= 1'000);
  }
  Hits hits;
  CHECK(hits.Add(1, 1'000, kT0 - 11'000, kT0, Hits::kNoCap) == 1);
  CHECK(hits.Add(1, 1'000, kT0 - 60'000, kT0, Hits::kNoCap) == 2);
  // In time: another window, which a late one cannot leave.
  CHECK(hits.Add(1, 1'000, kT0, kT0, 1) == 1);
  CHECK_FALSE(hits.Add(1, 1'000, kT0 - 11'000, kT0, 1));
}

TEST_CASE("HITS: one without a cap ends no window of late hits") {
  Hits hits;
  CHECK(hits.Add(5, 1'000, kT0 - 5'000, kT0, 5) == 5);
  CHECK(hits.ExpiresAt() == kT0 + 1'000);
  CHECK(hits.Add(1, 1'000, kT0 - 5'500, kT0 + 100) == 1);
  CHECK(hits.ExpiresAt() == kT0 + 1'000);
  CHECK_FALSE(hits.Add(1, 1'000, kT0 - 5'000, kT0 + 999, 5));
  std::string bytes;
  hits.Save(0, SIZE_MAX, bytes);
  Hits loaded;
  REQUIRE(loaded.Load(bytes));
  CHECK(loaded.ExpiresAt() == kT0 + 1'000);
  CHECK_FALSE(loaded.Add(1, 1'000, kT0 - 5'000, kT0 + 999, 5));
  // Without lateness a window is as long as its varint.
  hits.Add(1, 1'000, kT0 + 999, kT0 + 999);
  CHECK(hits.ExpiresAt() == kT0 + 1'999);
}

TEST_CASE("HITS: what was counted by a clock that was ahead counts as now") {
  constexpr int64_t kAhead = 400 * kDay;
  Hits hits;
  hits.Add(3, 1'000, kT0 + kAhead, kT0 + kAhead);
  CHECK(hits.Count(1'000, kT0, kT0) == 3);
  CHECK_FALSE(hits.Add(1, 1'000, kT0, kT0, 3));
  CHECK(hits.ExpiresAt() == kT0 + 1'000);
  CHECK_FALSE(hits.SetBack(kT0));
  CHECK(hits.Add(1, 1'000, kT0 + 1'000, kT0 + 1'000, 3) == 1);
  hits.Add(3, 1'000, kT0 + kAhead, kT0 + kAhead);
  CHECK(hits.Undo(1, kT0 + 1'000) == 2);
  CHECK(hits.newest_ms() == kT0 + 1'000);
}

}  // namespace
}  // namespace tally::hits_test
