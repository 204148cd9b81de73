// What decides goes by event time: several clients whose clocks differ ask one engine, whose own
// clock jumps both ways and which restarts in between.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/hit_counters.h"
#include "core/engine/limits.h"
#include "core/keyspace/compact_value.h"
#include "limit_naive_decide.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::event_time_test {
namespace {

constexpr int64_t kBegin = 1'795'230'400'000;
constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr int64_t kPeriodMs = 2'000;
constexpr int64_t kCap = 5;

struct TestEngine {
  UtcOnly zones;
  Engine engine{1, 42, zones};

  Keyspace& keyspace() { return engine.database(0); }
};

template <typename T>
std::string BytesOf(TestEngine& test, std::string_view key) {
  const Keyspace::Entry entry = test.keyspace().Peek(key);
  if (!entry) return {};
  T scratch;
  CompactValue<T> value(scratch);
  REQUIRE(value.Open(entry));
  std::string bytes;
  value->Save(0, SIZE_MAX, bytes);
  return bytes;
}

template <typename T>
void Copy(TestEngine& from, TestEngine& to, std::string_view key, int64_t now) {
  const Keyspace::Entry entry = from.keyspace().Peek(key);
  if (!entry) return;
  T scratch;
  CompactValue<T> value(scratch);
  REQUIRE(value.Open({}));
  REQUIRE(value->Load(BytesOf<T>(from, key)));
  std::string bytes;
  value.Store(to.keyspace(), key, now, bytes);
}

// A client stamps its hits by its own clock, and they arrive after some time.
struct Client {
  int64_t ahead_ms = 0;
  int64_t lag_ms = 0;

  int64_t AtOf(int64_t now) const { return now + ahead_ms - lag_ms; }
};

// A rule with a key of its own, and what is known of it.
struct Watched {
  std::string key;
  LimitRule rule;
  int64_t most_wait_ms;
  test::NaiveKey naive;
  // The instants that were counted since the key came to be or the clock was set back, in order.
  std::vector<int64_t> counted;
  // Of FIXED and LOCKOUT: windows are laid from the first hit that the one before does not hold.
  int64_t opened = -kHourMs;
  int64_t held = 0;
  // Of LOCKOUT: the begin of the last window or block, and when that ends. After the clock was set
  // back nobody knows, until the key is new.
  int64_t begun = 0;
  int64_t blocked_until = 0;
  bool is_exact = true;

  void Forget() {
    counted.clear();
    opened = -kHourMs;
    begun = blocked_until = 0;
    is_exact = true;
  }
};

class Clients {
 public:
  Clients() {
    Watch(LimitRule::Fixed(5, kPeriodMs), kPeriodMs);
    Watch(LimitRule::Fixed(2, kHourMs), kHourMs);
    Watch(LimitRule::Sliding(5, kPeriodMs), kPeriodMs);
    Watch(LimitRule::Sliding(3, kHourMs), kHourMs);
    Watch(LimitRule::Rolling(1, kPeriodMs), kPeriodMs);
    Watch(LimitRule::Rolling(5, kPeriodMs), 2 * kPeriodMs);
    Watch(LimitRule::Bucket(5, 5, kPeriodMs), kPeriodMs);
    Watch(LimitRule::Bucket(1, 1, kPeriodMs), kPeriodMs);
    Watch(LimitRule::Calendar(5, CalendarUnit::kSecond, utc_), 1'000);
    Watch(LimitRule::Calendar(5, CalendarUnit::kHour, utc_), kHourMs);
    Watch(LimitRule::Base(3, 2, kPeriodMs, utc_), kPeriodMs);
    Watch(LimitRule::Fixed(5, kPeriodMs, kBegin + 777), kPeriodMs);
    Watch(LimitRule::Fixed(2, kHourMs, 0), kHourMs);
    Watch(LimitRule::Calendar(9, CalendarUnit::kDay, offset_, {.minute = 20 * 60}), kDayMs);
    Watch(LimitRule::Calendar(9, CalendarUnit::kWeek, utc_, {.day = 6}), 7 * kDayMs);
    Watch(LimitRule::Calendar(9, CalendarUnit::kMonth, offset_, {.minute = 600, .day = 30}),
          31 * kDayMs);
    Watch(LimitRule::Base(3, 2, kPeriodMs, offset_, {.minute = 20 * 60}), kPeriodMs);
    Watch(LimitRule::Lockout(3, kPeriodMs, {.first_ms = 5'000}), 5'000);
    Watch(LimitRule::Lockout(5, kPeriodMs,
                             {.first_ms = 1'000, .factor = 1'500, .most_ms = kHourMs / 60}),
          kHourMs / 60);
    for (Client& client : clients_) Change(client);
    follower_->engine.set_expiry(Expiry::kIgnore);
  }

  void Step() {
    PassTime();
    if (random_.OneIn(1'000)) Restart();
    Client& client = clients_[random_.Below(clients_.size())];
    if (random_.OneIn(300)) Change(client);
    const int64_t at = random_.OneIn(4) ? now_ : client.AtOf(now_);
    const size_t which = random_.Below(watched_.size() + 1);
    if (which < watched_.size()) {
      Take(watched_[which], at);
    } else {
      AddHit(at);
    }
  }

  uint64_t seed() const { return random_.seed(); }
  void RequireUseful() const {
    CHECK(allowed_ > 1'000);
    CHECK(denied_ > 1'000);
    CHECK(set_back_ > 0);
  }

 private:
  void Watch(const LimitRule& rule, int64_t most_wait_ms) {
    watched_.push_back({"k" + std::to_string(watched_.size()), rule, most_wait_ms, {}, {}});
  }

  void Change(Client& client) {
    client.ahead_ms = random_.OneIn(3) ? 0 : random_.Between(-kHourMs, kHourMs);
    client.lag_ms = random_.OneIn(2) ? 0 : random_.Between(0, random_.OneIn(2) ? 600 : kHourMs);
  }

  void PassTime() {
    if (random_.OneIn(20'000)) {
      now_ += random_.Between(0, 400 * kDayMs);
    } else if (random_.OneIn(5'000)) {
      SetClockBack(random_.Between(1, random_.OneIn(2) ? 3'000 : 30 * kDayMs));
    } else if (random_.OneIn(2'000)) {
      now_ += random_.Between(0, 2 * kHourMs);
    } else {
      now_ += random_.Between(0, random_.OneIn(100) ? 3 * kPeriodMs : 40);
    }
  }

  void SetClockBack(int64_t by_ms) {
    for (Watched& one : watched_) {
      Expire(one.key);
      one.counted.clear();
      one.is_exact = false;
    }
    Expire("hits");
    hits_.clear();
    now_ -= by_ms;
  }

  // As the server does at the deadline of a key. The removal is an effect.
  bool Expire(std::string_view key) {
    const Keyspace::Entry entry = primary_->keyspace().Peek(key);
    if (entry && entry.deadline_ms() > now_) return false;
    if (entry) primary_->keyspace().Erase(entry);
    if (const auto copy = follower_->keyspace().Peek(key)) follower_->keyspace().Erase(copy);
    for (Watched& one : watched_) {
      if (one.key != key) continue;
      one.naive.clear();
      one.Forget();
    }
    return true;
  }

  // The follower, which has read the effects, goes on; or what was saved is loaded.
  void Restart() {
    for (const Watched& one : watched_) {
      REQUIRE(BytesOf<LimitState>(*primary_, one.key) == BytesOf<LimitState>(*follower_, one.key));
    }
    REQUIRE(BytesOf<Hits>(*primary_, "hits") == BytesOf<Hits>(*follower_, "hits"));
    std::swap(primary_, follower_);
    follower_ = std::make_unique<TestEngine>();
    for (const Watched& one : watched_) Copy<LimitState>(*primary_, *follower_, one.key, now_);
    Copy<Hits>(*primary_, *follower_, "hits", now_);
    if (random_.OneIn(2)) std::swap(primary_, follower_);
    // Whoever reads effects removes nothing by itself.
    primary_->engine.set_expiry(Expiry::kRemove);
    follower_->engine.set_expiry(Expiry::kIgnore);
  }

  void Take(Watched& one, int64_t at) {
    Expire(one.key);
    one.opened = std::min(one.opened, now_);
    const KeyRules keys[] = {{one.key, {&one.rule, 1}}};
    LimitRequest request{keys, 1, {std::min(at, now_), now_}};
    const LimitDecision naive =
        test::NaiveDecide({{&one.naive, {one.rule}}}, 1, now_, at, LimitMode::kTake);
    const LimitDecision peeked = Limits(Primary()).Peek(request).decision;
    const LimitResult taken = Limits(Primary()).Take(request);
    INFO(one.key << ", algorithm " << static_cast<int>(one.rule.algorithm) << ", late by "
                 << now_ - at);
    REQUIRE(taken.decision == naive);
    REQUIRE(peeked == naive);
    REQUIRE(naive.retry_after_ms >= 0);
    REQUIRE(naive.retry_after_ms <= one.most_wait_ms);
    (naive.allowed ? allowed_ : denied_) += 1;
    if (taken.set_back) {
      ++set_back_;
      for (test::NaiveCounter& counter : one.naive) {
        REQUIRE(counter.IsAhead(now_));
        counter.SetBack(now_);
      }
    }
    if (taken.counted || taken.set_back) {
      if (taken.set_back) request.cost = 0;
      Limits(Follower()).Count(request);
    }
    if (!naive.allowed) return;
    const int64_t e = std::max(request.time.at_ms, one.counted.empty() ? 0 : one.counted.back());
    one.counted.push_back(e);
    if (one.rule.algorithm == LimitAlgorithm::kLockout) {
      if (one.is_exact) RequireNoBlock(one, std::max(request.time.at_ms, one.begun));
    } else {
      RequireFewEnough(one, e);
    }
    // The hit itself lives until then.
    if (one.rule.algorithm == LimitAlgorithm::kSliding) {
      REQUIRE(primary_->keyspace().Peek(one.key).deadline_ms() == now_ + one.rule.period_ms);
    }
    if (one.counted.size() > 100) one.counted.erase(one.counted.begin(), one.counted.end() - 50);
  }

  static int64_t CountAfter(const std::vector<int64_t>& instants, int64_t after) {
    return instants.end() - std::upper_bound(instants.begin(), instants.end(), after);
  }

  // In one that the first hit opens, which the window before does not hold.
  static void RequireInWindow(Watched& one, int64_t e) {
    if (e >= one.opened + one.rule.period_ms) {
      one.opened = e;
      one.held = 0;
    }
    REQUIRE(++one.held <= one.rule.limit);
  }

  static void RequireNoBlock(Watched& one, int64_t e) {
    REQUIRE(e >= one.blocked_until);
    RequireInWindow(one, e);
    one.begun = std::max(one.begun, one.opened);
    if (one.held < one.rule.limit) return;
    one.opened = e - one.rule.period_ms;
    one.begun = e;
    one.blocked_until = e + one.rule.block.first_ms;
  }

  static void RequireFewEnough(Watched& one, int64_t e) {
    const LimitRule& rule = one.rule;
    switch (rule.algorithm) {
      case LimitAlgorithm::kSliding:
        REQUIRE(CountAfter(one.counted, e - rule.period_ms) <= rule.limit);
        break;
      case LimitAlgorithm::kRolling:
        REQUIRE(CountAfter(one.counted, e - rule.period_ms) <= 2 * rule.limit - 1);
        break;
      case LimitAlgorithm::kBucket:
        for (int64_t periods = 1; periods < 8; ++periods) {
          REQUIRE(CountAfter(one.counted, e - periods * rule.period_ms) <=
                  rule.limit + periods * rule.refill);
        }
        break;
      case LimitAlgorithm::kCalendar: {
        const Period period = PeriodContaining(e, rule.unit, rule.start, rule.zone->time_zone());
        REQUIRE(CountAfter(one.counted, period.start_ms - 1) <= rule.limit);
        break;
      }
      case LimitAlgorithm::kFixed:
        if (rule.has_grid()) {
          const int64_t start = rule.from_ms + (e - rule.from_ms) / rule.period_ms * rule.period_ms;
          REQUIRE(CountAfter(one.counted, std::min(start, e) - 1) <= rule.limit);
          break;
        }
        RequireInWindow(one, e);
        break;
      default:
        break;
    }
  }

  void AddHit(int64_t at) {
    if (Expire("hits")) hits_.clear();
    HitCounters::Addition add{
        .window_ms = kPeriodMs, .count = 1, .cap = kCap, .time = {std::min(at, now_), now_}};
    std::optional<int64_t> in_window;
    const HitCounters::Added added = HitCounters(Primary()).Add("hits", add, in_window);
    if (added.changed) {
      HitCounters::Addition effect = add;
      effect.cap = Hits::kNoCap;
      if (added.set_back) effect.count = 0;
      std::optional<int64_t> ignored;
      HitCounters(Follower()).Add("hits", effect, ignored);
    }
    REQUIRE(primary_->keyspace().Peek("hits").deadline_ms() <= now_ + kPeriodMs);
    if (!in_window) return;
    const int64_t e = std::max(add.time.at_ms, hits_.empty() ? 0 : hits_.back());
    hits_.push_back(e);
    REQUIRE(CountAfter(hits_, e - kPeriodMs) <= kCap);
    REQUIRE(CountAfter(hits_, e - kPeriodMs) <= *in_window);
  }

  Place Primary() { return {primary_->engine, 0, now_}; }
  // It reads later.
  Place Follower() { return {follower_->engine, 0, now_ + random_.Between(0, kHourMs), true}; }

  test::SeededRandom random_;
  Zone utc_;
  Zone offset_ = *Zone::OfOffset("-09:30");
  std::unique_ptr<TestEngine> primary_ = std::make_unique<TestEngine>();
  std::unique_ptr<TestEngine> follower_ = std::make_unique<TestEngine>();
  std::vector<Watched> watched_;
  std::vector<int64_t> hits_;
  std::array<Client, 5> clients_;
  int64_t now_ = kBegin;
  int64_t allowed_ = 0;
  int64_t denied_ = 0;
  int64_t set_back_ = 0;
};

TEST_CASE("no window of event time holds more than its limit, whatever the clocks show") {
  Clients clients;
  INFO("seed " << clients.seed());
  for (uint64_t step = 0; step < test::Scaled(200'000); ++step) {
    INFO("step " << step);
    clients.Step();
  }
  clients.RequireUseful();
}

}  // namespace
}  // namespace tally::event_time_test
