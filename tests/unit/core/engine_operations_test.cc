// What the operations of the engine give beside their results: what they did to keys.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/engine/audiences.h"
#include "core/engine/hit_counters.h"
#include "core/engine/limits.h"
#include "core/engine/quota_books.h"

namespace tally::engine_operations_test {
namespace {

constexpr int64_t kNow = 1'795'230'400'000;

struct TestEngine {
  Place At(int64_t now) { return {engine, 0, now}; }
  bool Holds(std::string_view key) { return static_cast<bool>(engine.database(0).Peek(key)); }

  UtcOnly zones;
  Engine engine{1, 42, zones};
};

LimitResult Take(const Place& place, std::span<const KeyRules> keys, int64_t cost = 1) {
  return Limits(place).Take({keys, cost, EventInstants::Now(place.now_ms)});
}

TEST_CASE("LIMIT: all keys count or none, each once, and a key ends with its last hit") {
  TestEngine test;
  const LimitRule two[] = {LimitRule::Fixed(2, 1'000)};
  const LimitRule one[] = {LimitRule::Sliding(1, 1'000)};
  const KeyRules keys[] = {{"a", two}, {"b", one}, {"a", one}};
  LimitResult result = Take(test.At(kNow), keys);
  CHECK(result.decision.allowed);
  CHECK(result.counted);
  REQUIRE(result.keys.size() == 2);
  CHECK(result.keys[0].name == "a");
  CHECK(result.keys[0].changed);
  CHECK_FALSE(result.keys[0].found);
  result = Take(test.At(kNow), keys);
  CHECK(result.decision.rule == 2);
  CHECK_FALSE(result.counted);
  CHECK_FALSE(result.keys[0].changed);
  CHECK(result.keys[1].found);
  CHECK(Limits(test.At(kNow)).Give("a", 1, kNow, kNow).removed);
  CHECK_FALSE(test.Holds("a"));
  CHECK(Limits(test.At(kNow)).Reset("b").removed);
  CHECK_FALSE(Limits(test.At(kNow)).Reset("b").found);
}

TEST_CASE("LIMIT: what Force is given again counts the same at any later time") {
  TestEngine test;
  TestEngine replayed;
  const LimitRule rules[] = {LimitRule::Sliding(3, 5'000), LimitRule::Bucket(3, 1, 1'000)};
  const KeyRules keys[] = {{"a", rules}};
  for (int64_t now = kNow; now < kNow + 6'500; now += 700) {
    const LimitRequest request{keys, 1, {now - 100, now}};
    if (!Limits(test.At(now)).Take(request).counted) continue;
    Limits({replayed.engine, 0, kNow, true}).Force(request);
  }
  std::vector<LimitShown> shown;
  std::vector<LimitShown> again;
  Limits(test.At(kNow + 6'500)).Show("a", shown);
  Limits(replayed.At(kNow + 6'500)).Show("a", again);
  REQUIRE(shown.size() == 2);
  REQUIRE(again.size() == 2);
  CHECK(shown[0].used == again[0].used);
  CHECK(shown[1].newest_ms == again[1].newest_ms);
}

TEST_CASE("operations leave a value of another type alone") {
  TestEngine test;
  test.engine.database(0).SetInteger("text", 7, kNoDeadline, kNow);
  const Place place = test.At(kNow);
  const LimitRule rules[] = {LimitRule::Fixed(2, 1'000)};
  const KeyRules keys[] = {{"other", rules}, {"text", rules}};
  CHECK(Take(place, keys).wrong_type);
  CHECK_FALSE(test.Holds("other"));
  std::optional<int64_t> hits;
  CHECK(HitCounters(place)
            .Add("text", {.window_ms = 1, .time = EventInstants::Now(kNow)}, hits)
            .wrong_type);
  const std::string_view ids[] = {"ann"};
  CHECK(Audiences(place).Touch("text", ids, EventInstants::Now(kNow)).wrong_type);
  CHECK(Audiences(place).Create("text", {}).wrong_type);
  const QuotaLimitSpec limits[] = {{.sku = 1, .limit = 1, .window_ms = 1'000}};
  CHECK(QuotaBooks(place).SetLimits({"text", kNow}, limits).wrong_type);
  KeyOutcome outcome;
  CHECK(QuotaBooks(place).Find("text", outcome) == nullptr);
  CHECK(outcome.wrong_type);
  CHECK(test.engine.database(0).Peek("text").integer() == 7);
}

TEST_CASE("HITS: what the cap refuses changes nothing") {
  TestEngine test;
  HitCounters hits(test.At(kNow));
  std::optional<int64_t> in_window;
  const HitCounters::Addition add{.window_ms = 1'000, .cap = 1, .time = EventInstants::Now(kNow)};
  CHECK(hits.Add("a", add, in_window).changed);
  CHECK(in_window == 1);
  CHECK_FALSE(hits.Add("a", add, in_window).changed);
  CHECK_FALSE(in_window);
  int64_t left = -1;
  CHECK(hits.Undo("a", 1, kNow, left).removed);
  CHECK(left == 0);
  CHECK_FALSE(test.Holds("a"));
}

TEST_CASE("ACTIVE: a set whose zone is gone takes no events, but those of a log") {
  TestEngine test;
  ActiveOptions options;
  options.zone = Zone::Missing("Asia/Nowhere");
  CHECK(Audiences(test.At(kNow)).Create("a", options).changed);
  CHECK(Audiences(test.At(kNow)).Create("a", options).found);
  const std::string_view ids[] = {"ann"};
  const EventInstants time = EventInstants::Now(kNow);
  CHECK(Audiences(test.At(kNow)).Touch("a", ids, time).refusal == Audiences::Refusal::kMissingZone);
  CHECK(Audiences({test.engine, 0, kNow, true}).Touch("a", ids, time).online == 1);
  int64_t forgotten = 0;
  CHECK(Audiences(test.At(kNow)).Forget("a", ids, forgotten).changed);
  CHECK(forgotten == 1);
}

TEST_CASE("QUOTA: a book is there as long as something is in it") {
  TestEngine test;
  QuotaBooks books(test.At(kNow));
  const QuotaLimitSpec limits[] = {{.sku = 1, .limit = 1, .window_ms = 1'000}};
  size_t count = 0;
  const QuotaId sku[] = {1};
  CHECK_FALSE(books.DelLimits({"b", kNow}, sku, {}, count).changed);
  CHECK_FALSE(test.Holds("b"));
  CHECK(books.SetLimits({"b", kNow, 5'000}, limits).retention_changed);
  const QuotaItem items[] = {{.sku = 1, .qty = 2}};
  QuotaBook::BuyResult result;
  QuotaLefts left;
  const QuotaOrder order{.user = 7, .order = 8, .items = items, .ts_ms = kNow, .if_left = true};
  CHECK_FALSE(books.Buy({"b", kNow}, order, result, left).changed);
  CHECK(result.item == 1);
  CHECK(books.DelLimits({"b", kNow}, sku, {}, count).removed);
  CHECK(count == 1);
  CHECK_FALSE(test.Holds("b"));
}

}  // namespace
}  // namespace tally::engine_operations_test
