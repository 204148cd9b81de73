// Thousands of holds of one key that end in one call: the same as if each had been looked at when
// it ended.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/engine/limits.h"
#include "core/engine/reservations.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/holds.h"
#include "core/time/zone_source.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::many_holds_test {
namespace {

constexpr int64_t kBegin = 1'795'230'400'000;
constexpr std::string_view kKey = "k";

struct OneEngine {
  UtcOnly zones;
  Engine engine{1, 42, zones};
};

LimitRule RandomRule(test::SeededRandom& random, Zone& utc) {
  const int64_t limit = random.Between(2'000, 40'000);
  const int64_t period = random.OneIn(2) ? 60'000 : 3'600'000;
  switch (random.Below(8)) {
    case 0:
      return LimitRule::Fixed(limit, period);
    case 1:
      return LimitRule::Sliding(limit, period);
    case 2:
      return LimitRule::Rolling(limit, period);
    case 3:
      return LimitRule::Bucket(limit, random.Between(1, 2'000), period);
    case 4:
      return LimitRule::Base(limit, random.Between(1, 5'000), period, utc);
    case 5:
      return LimitRule::Lockout(limit, period, {.first_ms = random.Between(1, 100'000)});
    case 6:
      return LimitRule::Calendar(limit, CalendarUnit::kMinute, utc);
    default:
      return LimitRule::Concurrent(limit);
  }
}

// What the key holds at `now`, but for the order of its ids. A counter in which nothing counts any
// more stays until the next hit, so it says nothing.
std::vector<std::string> PartsOf(OneEngine& one, int64_t now) {
  std::vector<std::string> parts;
  const Keyspace::Entry entry = one.engine.database(0).Peek(kKey);
  if (!entry) return parts;
  LimitState scratch;
  CompactValue<LimitState> state(scratch);
  REQUIRE(state.Open(entry));
  LimitState counters;
  for (const LimitCounter& counter : state->counters()) {
    LimitCounter& copy = counters.FindOrAdd(counter.key);
    copy.numbers = counter.numbers;
    copy.late_ms = counter.late_ms;
    if (counter.log != nullptr) *copy.log = *counter.log;
  }
  counters.Prune(now);
  counters.Encode(parts.emplace_back());
  if (state->holds() == nullptr) return parts;
  parts.push_back(std::to_string(state->concurrent(false)));
  state->holds()->ForEach([&](std::string_view id, const HoldRecord& record) {
    parts.emplace_back(id) += HoldBytes(record).view();
  });
  std::sort(parts.begin() + 2, parts.end());
  return parts;
}

class ManyHolds {
 public:
  ManyHolds() {
    for (uint64_t i = 1 + random_.Below(3); i > 0; --i) {
      rules_.push_back(RandomRule(random_, at_once_.zones.utc()));
    }
    for (OneEngine* one : {&at_once_, &one_by_one_}) one->engine.set_expiry(Expiry::kIgnore);
  }

  uint64_t seed() const { return random_.seed(); }

  void Run() {
    Fill();
    REQUIRE(PartsOf(at_once_, now_) == PartsOf(one_by_one_, now_));
    std::sort(deadlines_.begin(), deadlines_.end());
    for (uint64_t rest = 1 + random_.Below(3); rest > 0; --rest) {
      // Some end, or all, and perhaps some ids are forgotten.
      now_ = rest == 1 ? deadlines_.back() + random_.Between(0, 700'000)
                       : deadlines_[random_.Below(deadlines_.size())];
      RequireSameView();
      for (const int64_t deadline : deadlines_) {
        if (deadline > now_ || deadline <= seen_) continue;
        Settle(one_by_one_, deadline);
        seen_ = deadline;
      }
      Settle(one_by_one_, now_);
      Settle(at_once_, now_);
      REQUIRE(PartsOf(at_once_, now_) == PartsOf(one_by_one_, now_));
      Give();
    }
  }

 private:
  std::vector<KeyRules> Keys() const { return {{kKey, rules_}}; }
  std::vector<KeyRules> CountingKeys() {
    counting_.clear();
    for (const LimitRule& rule : rules_) {
      if (rule.counts()) counting_.push_back(rule);
    }
    return {{kKey, counting_}};
  }

  void Fill() {
    const std::vector<KeyRules> keys = Keys();
    const int64_t most_ttl = random_.OneIn(3) ? 3'000 : 400'000;
    for (int i = 0; i < kHolds; ++i) {
      now_ += random_.Between(0, 40);
      const std::string id = std::to_string(i);
      const int64_t at = random_.OneIn(4) ? now_ - random_.Between(0, 5'000) : now_;
      const HoldRequest request{
          .id = id,
          .ttl_ms = random_.Between(200'000, 200'000 + most_ttl),
          .limits = {.keys = keys, .cost = random_.Between(1, 5), .time = {at, now_}}};
      Both([&](const Place& place) { allowed_ = Reservations(place).Reserve(request).counted; });
      if (!allowed_) continue;
      deadlines_.push_back(now_ + request.ttl_ms);
      if (random_.OneIn(10)) Change(id);
    }
    REQUIRE(deadlines_.size() > kHolds / 10);
  }

  // Extends the hold, or settles a part of it.
  void Change(const std::string& id) {
    const std::vector<KeyRules> key{{kKey, {}}};
    if (random_.OneIn(2)) {
      const HoldRequest more{
          .id = id,
          .ttl_ms = 200'000,
          .limits = {.keys = key, .cost = random_.Between(1, 3), .time = EventInstants::Now(now_)}};
      Both([&](const Place& place) { Reservations(place).Extend(more); });
      deadlines_.push_back(now_ + more.ttl_ms);
    } else {
      const CommitRequest part{.id = id, .keys = key, .cost = 1, .keep = random_.OneIn(2)};
      Both([&](const Place& place) { Reservations(place).Commit(part, now_); });
    }
  }

  // What somebody sees who only reads is what is there when somebody writes.
  void RequireSameView() {
    const std::vector<KeyRules> keys = Keys();
    const LimitRequest request{
        .keys = keys, .cost = random_.Between(1, 9'000), .time = EventInstants::Now(now_)};
    const std::vector<std::string> before = PartsOf(at_once_, now_);
    const LimitDecision seen = Limits({at_once_.engine, 0, now_}).Peek(request).decision;
    std::vector<LimitShown> shown;
    Limits({at_once_.engine, 0, now_}).Show(kKey, shown);
    REQUIRE(PartsOf(at_once_, now_) == before);
    Settle(at_once_, now_);
    REQUIRE(seen == Limits({at_once_.engine, 0, now_}).Peek(request).decision);
    std::vector<LimitShown> settled;
    Limits({at_once_.engine, 0, now_}).Show(kKey, settled);
    REQUIRE(shown.size() == settled.size());
    for (size_t i = 0; i < shown.size(); ++i) REQUIRE(shown[i].used == settled[i].used);
  }

  // GIVE gives back what was taken, never what is held.
  void Give() {
    const std::vector<KeyRules> keys = CountingKeys();
    const LimitRequest taken{.keys = keys, .cost = 7, .time = EventInstants::Now(now_)};
    const int64_t back = random_.Between(1, 20);
    Both([&](const Place& place) {
      if (!counting_.empty()) Limits(place).Force(taken);
      Limits(place).Give(kKey, back, now_, kMaxInstantMs);
    });
    REQUIRE(PartsOf(at_once_, now_) == PartsOf(one_by_one_, now_));
  }

  static void Settle(OneEngine& one, int64_t now) {
    const KeyRules none{kKey, {}};
    Limits({one.engine, 0, now})
        .Take({.keys = {&none, 1}, .cost = 0, .time = EventInstants::Now(now)});
  }

  template <typename Do>
  void Both(Do act) {
    act(Place{one_by_one_.engine, 0, now_});
    act(Place{at_once_.engine, 0, now_});
  }

  static constexpr int kHolds = 2'000;
  test::SeededRandom random_;
  OneEngine at_once_;
  OneEngine one_by_one_;
  std::vector<LimitRule> rules_;
  std::vector<LimitRule> counting_;
  std::vector<int64_t> deadlines_;
  int64_t now_ = kBegin;
  int64_t seen_ = 0;
  bool allowed_ = false;
};

TEST_CASE("holds that end in one call free what they would have freed one by one") {
  for (uint64_t run = 0; run < test::Scaled(6); ++run) {
    ManyHolds holds;
    INFO("seed " << holds.seed());
    holds.Run();
  }
}

TEST_CASE("a hold of no parts is malformed") {
  // The head (held, several parts, plain shares), the deadline, no counters, the parts.
  const std::string before = {'\x61', '\x05', '\x00'};
  const std::string part = {'\x01', '\x00'};  // the cost, and how long before the deadline
  const std::string token = {'\x00'};
  HoldRecord record;
  CHECK(ReadHoldRecord(before + '\x02' + part + part + token, record));
  record = {};
  CHECK_FALSE(ReadHoldRecord(before + '\x00' + token, record));
}

}  // namespace
}  // namespace tally::many_holds_test
