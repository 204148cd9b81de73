#include "core/time/time_log.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "random_seed.h"

namespace tally::time_log_test {
namespace {

std::vector<int64_t> EventsOf(const TimeLog& log) {
  std::vector<int64_t> events;
  log.ForEachAfter(-1, [&](int64_t at, uint64_t count) {
    events.insert(events.end(), static_cast<size_t>(count), at);
  });
  return events;
}

// Removes pairs of instants of the log and of others, and perhaps puts back what it has removed.
void RequireSameAfterRemoval(TimeLog& log, std::vector<int64_t>& model,
                             test::SeededRandom& random) {
  if (model.empty()) return;
  std::vector<TimeBlock::Pair> pairs;
  std::vector<TimeBlock::Pair> removed;
  std::vector<int64_t> left = model;
  const uint64_t most = random.OneIn(10) ? 6'000 : 8;
  for (uint64_t i = random.Below(most); i > 0; --i) {
    const int64_t at = model[random.Below(model.size())] + (random.OneIn(9) ? 1 : 0);
    pairs.push_back({at, random.Below(4)});
    for (uint64_t count = pairs.back().count; count > 0; --count) {
      const auto found = std::lower_bound(left.begin(), left.end(), at);
      if (found == left.end() || *found != at) break;
      left.erase(found);
    }
  }
  for (const auto& [at, count] : log.RemoveEach(pairs)) {
    REQUIRE(count > 0);
    REQUIRE((removed.empty() || removed.back().at_ms < at));
    removed.push_back({at, count});
  }
  REQUIRE(EventsOf(log) == left);
  if (random.OneIn(4)) {
    model = left;
    return;
  }
  log.AddEach(removed);
  REQUIRE(EventsOf(log) == model);
}

TEST_CASE("a time log agrees with a sorted list under every operation") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const int64_t spread : {3, 1'000, 50'000'000}) {
    TimeLog log;
    TimeLog reused;
    std::vector<int64_t> model;
    int64_t clock = 1'000'000'000;
    for (int step = 0; step < 6'000; ++step) {
      clock += random.Between(0, spread);
      const uint64_t kind = random.Below(100);
      if (kind < 80) {
        const int64_t at = random.OneIn(4) ? clock - random.Between(0, 300 * spread) : clock;
        const uint64_t count = random.OneIn(5) ? random.Below(6) : 1;
        log.Add(std::max<int64_t>(0, at), count);
        model.insert(std::upper_bound(model.begin(), model.end(), std::max<int64_t>(0, at)), count,
                     std::max<int64_t>(0, at));
      } else if (kind < 82) {
        const int64_t at = clock - random.Between(0, 1'500 * spread);
        log.DropThrough(at);
        model.erase(model.begin(), std::upper_bound(model.begin(), model.end(), at));
      } else if (kind < 84) {
        const uint64_t count = random.Below(random.OneIn(10) ? 800 : 5);
        const int64_t limit =
            random.OneIn(2) ? TimeLog::kEndOfTime : clock - random.Between(0, 500 * spread);
        const auto end = std::upper_bound(model.begin(), model.end(), limit);
        const auto taken = std::min<uint64_t>(count, static_cast<uint64_t>(end - model.begin()));
        model.erase(end - static_cast<std::ptrdiff_t>(taken), end);
        REQUIRE(log.RemoveNewest(count, limit) == taken);
      }
      if (random.OneIn(50)) RequireSameAfterRemoval(log, model, random);
      REQUIRE(log.size() == model.size());
      if (model.empty()) continue;
      REQUIRE(log.oldest_ms() == model.front());
      REQUIRE(log.newest_ms() == model.back());
      const int64_t after = clock - random.Between(-spread, 1'000 * spread);
      const auto first = std::upper_bound(model.begin(), model.end(), after);
      const auto later = static_cast<uint64_t>(model.end() - first);
      REQUIRE(log.CountAfter(after) == later);
      if (later > 0) {
        const uint64_t rank = 1 + random.Below(later);
        REQUIRE(log.NthAfter(after, rank) == first[static_cast<std::ptrdiff_t>(rank - 1)]);
      }
      if (step % 500 == 0) {
        REQUIRE(EventsOf(log) == model);
        TimeLog copy;
        std::string runs;
        for (uint64_t cursor = 0;;) {
          cursor = log.Save(cursor, 300, runs);
          if (cursor == 0) break;
        }
        std::string_view in = runs;
        while (!in.empty()) REQUIRE(copy.Load(in));
        REQUIRE(EventsOf(copy) == model);
        reused.Clear();
        REQUIRE(reused.empty());
        in = runs;
        while (!in.empty()) REQUIRE(reused.Load(in));
        REQUIRE(EventsOf(reused) == model);
        // What was loaded goes on as what was added.
        reused.Clear();
        std::swap(log, copy);
      }
    }
    REQUIRE(EventsOf(log) == model);
    while (!log.FreeSome(100)) continue;
    REQUIRE(log.empty());
  }
}

TEST_CASE("a million events spread over a day cost less than two and a half bytes each") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  std::vector<int64_t> events;
  for (int i = 0; i < 1'000'000; ++i) events.push_back(random.Between(0, 86'400'000));
  std::sort(events.begin(), events.end());
  TimeLog log;
  for (const int64_t at : events) log.Add(at, 1);
  CHECK(log.HeapBytesUsed() < 2'500'000);
  // And after they have left and others have come, for days.
  for (int64_t now = 86'400'000; now < 3 * 86'400'000; now += 86) {
    log.Add(now, 1);
    log.DropThrough(now - 86'400'000);
  }
  CHECK(static_cast<double>(log.HeapBytesUsed()) < 2.5 * static_cast<double>(log.size()));
}

TEST_CASE("many events of one instant cost no more than one") {
  TimeLog log;
  log.Add(5, uint64_t{1} << 60);
  log.Add(5, 1);
  log.Add(7, 1'000'000);
  CHECK(log.size() == (uint64_t{1} << 60) + 1'000'001);
  CHECK(log.HeapBytesUsed() < 64);
  // The count stays within int64.
  log.Add(9, UINT64_MAX);
  CHECK(log.size() == TimeLog::kMaxSize);
}

TEST_CASE("the newest up to an instant in the middle of many blocks are removed") {
  TimeLog log;
  constexpr int64_t kStep = 10'000;
  constexpr int64_t kPairs = 100'000;
  for (int64_t i = 0; i < kPairs; ++i) log.Add(i * kStep, 1);
  constexpr int64_t kMiddle = kPairs / 2 * kStep;
  CHECK(log.RemoveNewest(1'000, kMiddle) == 1'000);
  CHECK(log.CountAfter(kMiddle - 1'000 * kStep) == kPairs / 2 - 1);
  CHECK(log.RemoveNewest(TimeLog::kMaxSize, kMiddle) == kPairs / 2 + 1 - 1'000);
  CHECK(log.size() == kPairs / 2 - 1);
  CHECK(log.oldest_ms() == kMiddle + kStep);
  CHECK(log.RemoveNewest(1, kMiddle) == 0);
  log.Add(0, 3);
  CHECK(log.size() == kPairs / 2 + 2);
}

TEST_CASE("malformed runs are refused") {
  TimeLog log;
  log.Add(1'000'000, 3);
  log.Add(2'000'000, 1);
  std::string runs;
  REQUIRE(log.Save(0, 1'000, runs) == 0);
  for (size_t length = 0; length < runs.size(); ++length) {
    TimeLog copy;
    std::string_view in = std::string_view(runs).substr(0, length);
    CHECK_FALSE(copy.Load(in));
  }
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int i = 0; i < 2'000; ++i) {
    std::string bytes(random.Below(30), '\0');
    for (char& c : bytes) c = static_cast<char>(random.Next());
    TimeLog copy;
    std::string_view in = bytes;
    if (copy.Load(in) && !copy.empty()) CHECK(copy.oldest_ms() <= copy.newest_ms());
  }
}

}  // namespace
}  // namespace tally::time_log_test
