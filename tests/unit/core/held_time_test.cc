// What is held, and what ONCE remembers, goes by event time too: clients whose clocks differ
// reserve and take, commit and cancel on one key of one engine, whose own clock jumps both ways and
// which restarts in between.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/reservations.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/hold_record.h"
#include "core/limit/holds.h"
#include "forgotten_ids.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::held_time_test {
namespace {

constexpr int64_t kBegin = 1'795'230'400'000;
constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 24 * kHourMs;
constexpr int64_t kPeriodMs = 2'000;
constexpr int64_t kLimit = 9;
constexpr int64_t kConcurrent = 6;
constexpr std::string_view kKey = "k";

struct HeldEngine {
  UtcOnly zones;
  Engine engine{1, 42, zones};
};

// The key's value; null if it is absent.
std::unique_ptr<LimitState> StateOf(HeldEngine& held) {
  const Keyspace::Entry entry = held.engine.database(0).Peek(kKey);
  if (!entry) return nullptr;
  LimitState scratch;
  CompactValue<LimitState> value(scratch);
  REQUIRE(value.Open(entry));
  return value->Clone();
}

// The same for two that are the same, in whatever order their ids are.
std::vector<std::string> PartsOf(const LimitState* state) {
  std::vector<std::string> parts;
  if (state == nullptr) return parts;
  LimitState counters;
  for (const LimitCounter& counter : state->counters()) {
    LimitCounter& copy = counters.FindOrAdd(counter.key);
    copy.late_ms = counter.late_ms;
    *copy.log = *counter.log;
  }
  counters.Encode(parts.emplace_back());
  if (state->holds() == nullptr) return parts;
  state->holds()->ForEach([&](std::string_view id, const HoldRecord& record) {
    parts.emplace_back(id) += HoldBytes(record).view();
  });
  std::sort(parts.begin() + 1, parts.end());
  return parts;
}

class HoldingClients {
 public:
  HoldingClients() { follower_->engine.set_expiry(Expiry::kIgnore); }

  void Step() {
    PassTime();
    EndHolds();
    if (random_.OneIn(1'000)) Restart();
    const uint64_t what = random_.Below(10);
    if (what < 4) {
      Reserve();
    } else if (what < 6) {
      Take();
    } else if (held_.empty()) {
      Retry();
    } else if (what < 8) {
      Commit();
    } else {
      Cancel();
    }
  }

  uint64_t seed() const { return random_.seed(); }
  void RequireUseful() const {
    CHECK(allowed_ > 500);
    CHECK(denied_ > 500);
    CHECK(ended_ > 100);
    CHECK(retries_ > 100);
  }

 private:
  // Hits of one instant; those of a hold are counted until it gives them back.
  struct Counted {
    int64_t at;
    int64_t cost;
  };
  struct Hold {
    int64_t at;
    int64_t cost;
    int64_t deadline;
    bool concurrent;
  };

  int64_t RandomAt() {
    if (random_.OneIn(3)) return now_;
    return now_ - random_.Between(0, random_.OneIn(2) ? 600 : kHourMs);
  }

  void PassTime() {
    if (random_.OneIn(20'000)) {
      now_ += random_.Between(0, 400 * kDayMs);
    } else if (random_.OneIn(5'000)) {
      SetClockBack(random_.Between(1, random_.OneIn(2) ? 3'000 : 30 * kDayMs));
    } else if (random_.OneIn(2'000)) {
      now_ += random_.Between(0, 2 * kHourMs);
    } else {
      now_ += random_.Between(0, random_.OneIn(100) ? 3 * kPeriodMs : 200);
    }
  }

  // What was counted and held before that is not known exactly any more, until the key is new.
  void SetClockBack(int64_t by_ms) {
    RemoveDue();
    now_ -= by_ms;
    ++epoch_;
    Forget();
    is_exact_ = random_.OneIn(2);
    if (!is_exact_) return;
    for (HeldEngine* one : {primary_.get(), follower_.get()}) {
      Limits({one->engine, 0, now_}).Reset(kKey);
    }
  }

  void Forget() {
    counted_.clear();
    held_.clear();
    once_.clear();
    late_ms_ = 0;
  }

  void RemoveDue() {
    const Keyspace::Entry entry = primary_->engine.database(0).Peek(kKey);
    if (!entry || entry.deadline_ms() > now_) return;
    primary_->engine.database(0).Erase(entry);
    Keyspace& follower = follower_->engine.database(0);
    if (const Keyspace::Entry copy = follower.Peek(kKey)) follower.Erase(copy);
    REQUIRE(held_.empty());
    counted_.clear();
    is_exact_ = true;
  }

  // A hold that ends frees exactly what it holds.
  void EndHolds() {
    for (auto it = held_.begin(); it != held_.end();) {
      if (it->second.deadline > now_) {
        ++it;
        continue;
      }
      GiveBack(it->second.at, it->second.cost);
      it = held_.erase(it);
      ++ended_;
    }
    RemoveDue();
    if (!counted_.empty() && Clock() + kPeriodMs + late_ms_ <= now_) counted_.clear();
  }

  void GiveBack(int64_t at, int64_t cost) {
    for (Counted& one : counted_) {
      if (one.at == at) one.cost -= std::min(cost, one.cost);
    }
    std::erase_if(counted_, [](const Counted& one) { return one.cost == 0; });
  }

  int64_t Clock() const {
    int64_t clock = 0;
    for (const Counted& one : counted_) clock = std::max(clock, one.at);
    return clock;
  }
  int64_t CountAfter(int64_t after) const {
    int64_t count = 0;
    for (const Counted& one : counted_) count += one.at > after ? one.cost : 0;
    return count;
  }
  int64_t Held() const {
    int64_t held = 0;
    for (const auto& [id, hold] : held_) held += hold.concurrent ? hold.cost : 0;
    return held;
  }

  void Note(int64_t e, int64_t cost) {
    std::erase_if(counted_, [&](const Counted& one) { return one.at <= e - kPeriodMs; });
    const auto same = std::find_if(counted_.begin(), counted_.end(),
                                   [e](const Counted& one) { return one.at == e; });
    if (same != counted_.end()) {
      same->cost += cost;
    } else {
      counted_.push_back({e, cost});
    }
    late_ms_ = now_ - Clock();
    REQUIRE(CountAfter(e - kPeriodMs) <= kLimit);
  }

  // Compares what was decided, and notes it if it was allowed.
  bool Judge(const LimitDecision& decision, int64_t at, int64_t cost, bool concurrent) {
    const int64_t e = std::max(at, Clock());
    const bool fits =
        CountAfter(e - kPeriodMs) + cost <= kLimit && (!concurrent || Held() + cost <= kConcurrent);
    if (is_exact_ || !fits) REQUIRE(decision.allowed == fits);
    (decision.allowed ? allowed_ : denied_) += 1;
    if (decision.allowed) Note(e, cost);
    return decision.allowed;
  }

  std::string NewId() { return std::to_string(epoch_) + ":" + std::to_string(++last_id_); }

  void Reserve() {
    const LimitRule rules[] = {LimitRule::Sliding(kLimit, kPeriodMs),
                               LimitRule::Concurrent(kConcurrent)};
    const bool concurrent = random_.OneIn(2);
    const KeyRules keys[] = {{kKey, {rules, concurrent ? size_t{2} : size_t{1}}}};
    const int64_t at = RandomAt();
    const int64_t cost = random_.Between(1, 4);
    const std::string id = NewId();
    HoldRequest request{.id = id,
                        .ttl_ms = random_.Between(1, 3 * kPeriodMs),
                        .limits = {.keys = keys, .cost = cost, .time = {at, now_}}};
    const HoldResult result = Reservations(Primary()).Reserve(request);
    Follow(result, [&] { Reservations(Follower()).Reserve(request); });
    if (!Judge(result.decision, at, cost, concurrent)) return;
    held_[id] = {Clock() > at ? Clock() : at, cost, now_ + request.ttl_ms, concurrent};
    // The same call again holds nothing more.
    if (random_.OneIn(2)) return;
    const HoldResult again = Reservations(Primary()).Reserve(request);
    REQUIRE(again.decision.allowed);
    REQUIRE_FALSE(again.counted);
    REQUIRE(again.token == result.token);
  }

  void Take() {
    const LimitRule rule = LimitRule::Sliding(kLimit, kPeriodMs);
    const KeyRules keys[] = {{kKey, {&rule, 1}}};
    const int64_t at = RandomAt();
    const int64_t cost = random_.Between(1, 3);
    const std::string id = random_.OneIn(2) ? NewId() : "";
    LimitRequest request{.keys = keys, .cost = cost, .time = {at, now_}, .once = id};
    const LimitResult result = Limits(Primary()).Take(request);
    Follow(result, [&] { Limits(Follower()).Count(request); });
    if (Judge(result.decision, at, cost, false) && !id.empty()) once_[id] = test::Forgotten(now_);
  }

  // An id that took once takes nothing more.
  void Retry() {
    std::erase_if(once_, [this](const auto& one) { return one.second <= now_; });
    if (once_.empty()) return;
    const LimitRule rule = LimitRule::Sliding(kLimit, kPeriodMs);
    const KeyRules keys[] = {{kKey, {&rule, 1}}};
    const LimitRequest request{
        .keys = keys, .cost = 3, .time = {RandomAt(), now_}, .once = once_.begin()->first};
    const LimitResult result = Limits(Primary()).Take(request);
    Follow(result, [&] { FAIL("a retry counts nothing"); });
    REQUIRE(result.decision.allowed);
    ++retries_;
  }

  void Commit() {
    const auto hold = std::next(held_.begin(), static_cast<ptrdiff_t>(random_.Below(held_.size())));
    const KeyRules keys[] = {{kKey, {}}};
    const int64_t used = random_.Between(0, hold->second.cost);
    const CommitRequest request{.id = hold->first, .keys = keys, .cost = used};
    const SettleResult result = Reservations(Primary()).Commit(request, now_);
    Follow(result, [&] { Reservations(Follower()).Commit(request, now_); });
    REQUIRE(result.settled.found == HoldState::kHeld);
    REQUIRE(result.settled.counted == used);
    GiveBack(hold->second.at, hold->second.cost - used);
    const SettleResult again = Reservations(Primary()).Commit(request, now_);
    REQUIRE(again.settled.found == HoldState::kCommitted);
    REQUIRE_FALSE(again.counted);
    held_.erase(hold);
  }

  void Cancel() {
    const auto hold = std::next(held_.begin(), static_cast<ptrdiff_t>(random_.Below(held_.size())));
    const KeyRules keys[] = {{kKey, {}}};
    const SettleResult result = Reservations(Primary()).Cancel(hold->first, keys, now_);
    Follow(result, [&] { Reservations(Follower()).Cancel(hold->first, keys, now_); });
    REQUIRE(result.settled.found == HoldState::kHeld);
    REQUIRE(result.settled.held == hold->second.cost);
    GiveBack(hold->second.at, hold->second.cost);
    held_.erase(hold);
  }

  // Tells the follower what the call has changed.
  template <typename Again>
  void Follow(const LimitResult& result, Again again) {
    REQUIRE_FALSE(result.full);
    REQUIRE(result.wrong == "");
    if (result.counted) {
      again();
    } else if (result.set_back) {
      const LimitRule rule = LimitRule::Sliding(kLimit, kPeriodMs);
      const KeyRules keys[] = {{kKey, {&rule, 1}}};
      Limits(Follower()).Count({.keys = keys, .cost = 0, .time = EventInstants::Now(now_)});
    }
  }

  // The follower goes on, or what was saved is loaded.
  void Restart() {
    const auto state = StateOf(*primary_);
    REQUIRE(PartsOf(state.get()) == PartsOf(StateOf(*follower_).get()));
    std::swap(primary_, follower_);
    follower_ = std::make_unique<HeldEngine>();
    if (state != nullptr) {
      std::string bytes;
      state->Encode(bytes);
      LimitState scratch;
      CompactValue<LimitState> value(scratch);
      REQUIRE(value.Open({}));
      REQUIRE(value->Load(bytes));
      value.Store(follower_->engine.database(0), kKey, now_, bytes);
    }
    if (random_.OneIn(2)) std::swap(primary_, follower_);
    primary_->engine.set_expiry(Expiry::kRemove);
    follower_->engine.set_expiry(Expiry::kIgnore);
  }

  Place Primary() { return {primary_->engine, 0, now_}; }
  // It reads later.
  Place Follower() { return {follower_->engine, 0, now_ + random_.Between(0, kHourMs), true}; }

  test::SeededRandom random_;
  std::unique_ptr<HeldEngine> primary_ = std::make_unique<HeldEngine>();
  std::unique_ptr<HeldEngine> follower_ = std::make_unique<HeldEngine>();
  std::vector<Counted> counted_;
  int64_t late_ms_ = 0;
  std::map<std::string, Hold> held_;
  std::map<std::string, int64_t> once_;  // until when each is remembered at least
  int64_t now_ = kBegin;
  bool is_exact_ = true;
  int64_t epoch_ = 0;
  int64_t last_id_ = 0;
  int64_t allowed_ = 0;
  int64_t denied_ = 0;
  int64_t ended_ = 0;
  int64_t retries_ = 0;
};

TEST_CASE("no window of event time holds more than its limit, with what is held in it") {
  HoldingClients clients;
  INFO("seed " << clients.seed());
  for (uint64_t step = 0; step < test::Scaled(50'000); ++step) {
    INFO("step " << step);
    clients.Step();
  }
  clients.RequireUseful();
}

}  // namespace
}  // namespace tally::held_time_test
