// What the engine counts of its decisions, and who was denied.
#include "core/engine/decisions.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/limits.h"
#include "core/engine/quota_books.h"
#include "core/limit/rule_text.h"
#include "core/limit/rule_words.h"
#include "random_seed.h"
#include "scale.h"
#include "zipf.h"

namespace tally::decisions_test {
namespace {

constexpr int64_t kNow = 1'795'230'400'000;
using Command = Decisions::Command;

std::string Text(const DecisionCount& count) {
  return std::to_string(count.allowed) + " " + std::to_string(count.denied);
}

struct TestEngine {
  Place place(bool replaying = false) { return {engine, 0, kNow, replaying}; }
  Decisions& decisions() { return engine.decisions(); }
  std::string Of(Command command) { return Text(decisions().by_command(command)); }
  std::string Of(LimitAlgorithm algorithm) { return Text(decisions().by_algorithm(algorithm)); }
  std::string OfPolicy(std::string_view name) {
    const Policy* policy = engine.policies().Find(name);
    REQUIRE(policy != nullptr);
    return Text(policy->tally().count);
  }
  RuleList Rules(const std::vector<std::string_view>& words) {
    std::string error;
    RuleList list;
    size_t index = 0;
    const WordReader in(words, WordOrigin::kCaller, error);
    REQUIRE(RuleParser(zones, engine.policies()).Read(in, index, list));
    return list;
  }
  bool Take(std::span<const KeyRules> keys, LimitMode mode = LimitMode::kTake, int64_t cost = 1,
            bool replaying = false) {
    return Limits(place(replaying))
        .Decide({keys, cost, EventInstants::Now(kNow)}, mode)
        .decision.allowed;
  }
  std::vector<std::string> Denied() {
    std::vector<std::string> lines;
    for (const TopItem& item : decisions().denials().Top(Denials::Window::kMinute, kNow)) {
      lines.push_back(std::string(item.key.view()) + " " + std::string(item.label.view()) + " " +
                      std::to_string(item.count));
    }
    return lines;
  }

  UtcOnly zones;
  Engine engine{1, 42, zones};
};

TEST_CASE("what is taken counts by command, algorithm and policy; what only asks does not") {
  TestEngine test;
  test.engine.policies().Set("login", {"FIXED", "2", "60s", "SLIDING", "5", "1h"});
  const RuleList list = test.Rules({"POLICY", "login", "BUCKET", "9", "1", "1s"});
  const KeyRules keys[] = {{"ann", {list.rules.data(), list.rules.size()}}};
  CHECK(test.Take(keys, LimitMode::kPeek));
  CHECK(test.Take(keys, LimitMode::kTake, 0));
  CHECK(test.Take(keys, LimitMode::kForce, 1, true));
  CHECK(test.Of(Command::kTake) == "0 0");
  CHECK(test.OfPolicy("login") == "0 0");
  CHECK(test.Take(keys));
  CHECK_FALSE(test.Take(keys));
  CHECK_FALSE(test.Take(keys, LimitMode::kForce));
  CHECK(test.Of(Command::kTake) == "1 1");
  CHECK(test.Of(Command::kForce) == "0 1");
  CHECK(test.Of(LimitAlgorithm::kFixed) == "1 2");
  CHECK(test.Of(LimitAlgorithm::kSliding) == "1 0");
  CHECK(test.Of(LimitAlgorithm::kBucket) == "1 0");
  CHECK(test.OfPolicy("login") == "1 2");
  CHECK(test.Denied() == std::vector<std::string>{"ann login 2"});
}

TEST_CASE("a policy counts once for a key, however often the call names it") {
  TestEngine test;
  test.engine.policies().Set("login", {"FIXED", "9", "60s"});
  const RuleList list =
      test.Rules({"POLICY", "login", "BUCKET", "9", "1", "1s", "POLICY", "login"});
  const std::span<const LimitRule> rules(list.rules.data(), list.rules.size());
  const KeyRules one[] = {{"ann", rules}};
  CHECK(test.Take(one));
  CHECK(test.OfPolicy("login") == "1 0");
  const KeyRules two[] = {{"bob", rules}, {"eve", rules}};
  CHECK(test.Take(two));
  CHECK(test.OfPolicy("login") == "3 0");
}

TEST_CASE("what SHADOW would have denied counts by command, algorithm and policy, once each") {
  TestEngine test;
  test.engine.policies().Set("new", {"FIXED", "1", "60s", "SLIDING", "1", "1h"});
  const RuleList list = test.Rules({"FIXED", "3", "60s", "SHADOW", "POLICY", "new"});
  const KeyRules keys[] = {{"ann", {list.rules.data(), list.rules.size()}}};
  CHECK(test.Take(keys));
  CHECK(test.decisions().by_command(Command::kTake).shadow_denied == 0);
  CHECK(test.OfPolicy("new") == "1 0");
  CHECK(test.Take(keys, LimitMode::kTake, 2));
  // Denied by a rule in force too.
  CHECK_FALSE(test.Take(keys));
  CHECK_FALSE(test.Take(keys, LimitMode::kPeek));
  CHECK(test.Of(Command::kTake) == "2 1");
  CHECK(test.decisions().by_command(Command::kTake).shadow_denied == 2);
  CHECK(test.OfPolicy("new") == "1 0");
  CHECK(test.engine.policies().Find("new")->tally().count.shadow_denied == 2);
  CHECK(test.decisions().by_algorithm(LimitAlgorithm::kSliding).shadow_denied == 2);
  CHECK(test.Of(LimitAlgorithm::kFixed) == "2 1");
  std::vector<TopItem> top = test.decisions().denials().Top(Denials::Window::kMinute, kNow);
  REQUIRE(top.size() == 3);
  for (const TopItem& item : top) {
    const bool shadow = (item.kind & Denials::kShadow) != 0;
    CHECK(item.count == (shadow ? 2 : 1));
    CHECK(item.label.view() == (shadow ? "new" : "FIXED 3 1m"));
  }
}

TEST_CASE("a denial counts under the rule that denied first, and for its key") {
  TestEngine test;
  const LimitRule many[] = {LimitRule::Fixed(100, 60'000), LimitRule::Sliding(100, 1'000)};
  const LimitRule none[] = {LimitRule::Allow(), LimitRule::Bucket(0, 1, 90'000), LimitRule::Deny()};
  const KeyRules keys[] = {{"ann", many}, {"all", none}};
  CHECK_FALSE(test.Take(keys));
  CHECK(test.Of(LimitAlgorithm::kBucket) == "0 1");
  CHECK(test.Of(LimitAlgorithm::kDeny) == "0 0");
  CHECK(test.Of(LimitAlgorithm::kFixed) == "0 0");
  CHECK(test.Denied() == std::vector<std::string>{"all BUCKET 0 1 90s 1"});
}

TEST_CASE("CL.THROTTLE and checked purchases are decisions too") {
  TestEngine test;
  const LimitRule rule = ThrottleRule(0, 1, 60'000);
  ThrottleReply reply;
  for (const int64_t quantity : {0, 1, 1}) {
    Limits(test.place()).Throttle("t", rule, quantity, reply);
  }
  CHECK(test.Of(Command::kThrottle) == "1 1");
  CHECK(test.Of(LimitAlgorithm::kBucket) == "1 1");
  QuotaBooks books(test.place());
  const QuotaLimitSpec limit{.sku = 4711, .limit = 2, .window_ms = 1'000};
  books.SetLimits({"shop", kNow}, {&limit, 1});
  const QuotaItem item{.sku = 4711, .qty = 2};
  QuotaOrder order{.user = QuotaId::Text("ann"), .order = 1, .items = {&item, 1}, .ts_ms = kNow};
  QuotaBook::BuyResult result;
  QuotaLefts lefts;
  const auto buy = [&](bool checked, bool once) {
    order.if_left = checked;
    order.once = once;
    books.Buy({"shop", kNow}, order, result, lefts);
  };
  buy(true, false);
  buy(true, true);    // a retry: no decision
  buy(false, false);  // recorded, not checked
  buy(true, false);
  CHECK(test.Of(Command::kBuy) == "1 1");
  const auto denied = test.Denied();
  REQUIRE(denied.size() == 2);
  CHECK((denied[0] == "shop QUOTA 4711 0 ann 1" || denied[1] == "shop QUOTA 4711 0 ann 1"));
}

TEST_CASE("policies beyond those that have a tally of their own share one") {
  PolicyTable table;
  const auto name = [](size_t i) { return "p" + std::to_string(10'000 + i); };
  const auto tally = [&](std::string_view of) {
    const Policy* found = table.Find(of);
    REQUIRE(found != nullptr);
    return &found->tally();
  };
  const auto names = [&] {
    std::vector<std::string> all;
    table.ForEachTally([&](const PolicyTally& one) { all.push_back(one.name); });
    return all;
  };
  for (size_t i = 0; i < PolicyTable::kMaxTallies; ++i) table.Set(name(i), {"DENY"});
  CHECK(names().size() == PolicyTable::kMaxTallies);
  table.Set("late", {"DENY"});
  table.Set(std::string(129, 'x'), {"DENY"});
  CHECK(tally("late")->name == "other");
  CHECK(tally("late") == tally(std::string(129, 'x')));
  CHECK(names().size() == PolicyTable::kMaxTallies + 1);
  CHECK(names().back() == "other");
  // Whose rules change keeps its tally; a place that is free is given to the next.
  PolicyTally* first = tally(name(0));
  first->count.allowed = 7;
  table.Set(name(0), {"ALLOW"});
  CHECK(tally(name(0))->count.allowed == 7);
  REQUIRE(table.Erase(name(1)));
  table.Set("later", {"DENY"});
  CHECK(tally("later")->name == "later");
  table.Set("other", {"DENY"});
  CHECK(tally("other") == tally("late"));
  table.Clear();
  CHECK(names().empty());
  table.Set("late", {"DENY"});
  CHECK(names() == std::vector<std::string>{"late"});
}

TEST_CASE("a rule as text is read as the same rule") {
  TestEngine test;
  for (const char* text : {"FIXED 2 90s",
                           "CALENDAR 5 day",
                           "CALENDAR 5 week STARTS sunday",
                           "SLIDING 5 10m",
                           "ROLLING 1 1500ms",
                           "BUCKET 10 1 1d",
                           "BASE 1 2 36h",
                           "ALLOW",
                           "DENY",
                           "FIXED 2 30d FROM 1795230400",
                           "FIXED 2 30d FROM 1795230400123ms",
                           "CALENDAR 5 day STARTS 20:00",
                           "CALENDAR 5 month STARTS 31",
                           "CALENDAR 5 month STARTS 15T10:00",
                           "CALENDAR 5 year STARTS 04-06",
                           "BASE 1 2 36h STARTS 06:30",
                           "LOCKOUT 5 1h 15m",
                           "LOCKOUT 5 1h 15m GROW 1.5 MAX 1d",
                           "LOCKOUT 5 1h 15m GROW 2 MAX 15m",
                           "LOCKOUT 5 1h 15m GROW 10.025 MAX 1d",
                           "CONCURRENT 3",
                           "HOLDS 10m 0.25",
                           "HOLDS 10m 1",
                           "SHADOW CALENDAR 5 day STARTS 20:00",
                           "SHADOW CONCURRENT 3"}) {
    std::vector<std::string_view> words;
    for (std::string_view rest = text; !rest.empty();) {
      words.push_back(rest.substr(0, rest.find(' ')));
      rest.remove_prefix(std::min(rest.size(), words.back().size() + 1));
    }
    CHECK(RuleText(test.Rules(words).rules.front()) == text);
  }
}

TEST_CASE("denials are exact while their keys are few, however they come and whenever one asks") {
  test::SeededRandom random;
  Denials denials(3);
  std::vector<std::pair<int64_t, std::string>> all;
  int64_t now = kNow;
  for (int i = 0; i < 20'000; ++i) {
    now += static_cast<int64_t>(random.OneIn(100) ? random.Below(20'000) : random.Below(30));
    const std::string key = std::to_string(random.Below(random.OneIn(3) ? 200 : 3));
    denials.Add({key, 0}, {Denials::kRule, 1, [] { return std::string("DENY"); }}, now);
    all.emplace_back(now, key);
    if (!random.OneIn(500)) continue;
    std::map<std::string, std::pair<uint64_t, int64_t>> exact;
    for (const auto& [at, one] : all) {
      if (at / 10'000 > now / 10'000 - 6) exact[one] = {exact[one].first + 1, at};
    }
    const auto top = denials.Top(Denials::Window::kMinute, now);
    REQUIRE(top.size() == exact.size());
    for (const TopItem& item : top) {
      const auto& [count, last] = exact.at(std::string(item.key.view()));
      REQUIRE(item.count == count);
      REQUIRE(item.error == 0);
      REQUIRE(item.last_ms == last);
    }
  }
}

TEST_CASE("of denials by chance each above the bound is there, and none is off by more") {
  test::SeededRandom random;
  INFO("TALLY_SEED=" << random.seed());
  const test::Zipf zipf(50'000, 1.05);
  Denials denials(random.Next());
  std::map<std::string, uint64_t> exact;
  const uint64_t events = test::Scaled(200'000);
  constexpr int64_t kBegin = kNow - kNow % 3'600'000;
  for (uint64_t i = 0; i < events; ++i) {
    const std::string key = std::to_string(zipf.Next(random));
    ++exact[key];
    denials.Add({key, 0}, {Denials::kRule, 1, [] { return std::string("DENY"); }},
                kBegin + static_cast<int64_t>(i * 250'000 / events));
  }
  const int64_t now = kBegin + 249'999;
  for (const Denials::Window window : {Denials::Window::kFiveMinutes, Denials::Window::kHour}) {
    const uint64_t bound = denials.bound(window, now);
    CHECK(bound <= events / 200);
    auto missing = exact;
    for (const TopItem& item : denials.Top(window, now)) {
      const uint64_t count = exact.at(std::string(item.key.view()));
      REQUIRE(count <= item.count);
      REQUIRE(item.count - item.error <= count);
      REQUIRE(item.error <= bound);
      missing.erase(std::string(item.key.view()));
    }
    for (const auto& [key, count] : missing) REQUIRE(count <= bound);
  }
  CHECK(denials.MemoryBytes() < 1'900'000);
}

}  // namespace
}  // namespace tally::decisions_test
