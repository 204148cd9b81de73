// All calls of limits and reservations in random order against the naive model, over several keys,
// while the clock goes on and is set back. Who is asked is given: the engine, or a server by its
// commands.
#pragma once

#include <array>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/engine/limits.h"
#include "core/engine/reservations.h"
#include "core/keyspace/compact_value.h"
#include "core/limit/limit_state.h"
#include "core/limit/reservation.h"
#include "core/limit/rule_text.h"
#include "random_seed.h"
#include "reservation_naive.h"
#include "reservation_uses.h"

namespace tally::test {

// Forgets of a key what has ended, which is otherwise read as ended until somebody writes the key.
inline void ForgetEnded(Engine& engine, std::string_view key, int64_t now) {
  const Keyspace::Entry entry = engine.database(0).FindForWrite(key, now);
  if (!entry) return;
  LimitState scratch;
  CompactValue<LimitState> state(scratch);
  REQUIRE(state.Open(entry));
  SettleHolds(*state, engine.zones(), now);
  state->Prune(now);
  std::string bytes;
  state.Store(engine.database(0), key, now, bytes);
}

// A Target has the calls of Limits and of Reservations, and
//   void PassTo(int64_t now)    time passes
//   void Forget()               forgets what has ended
//   void SetBackTo(int64_t now) the clock is set back, and with it all that lies ahead
//   void Restart()              what was stored or logged is loaded, by another
//   bool kTellsShadow           whether its decisions say which rules in SHADOW would have denied
template <typename Target>
class ReservedRun {
 public:
  void Step() {
    PassTime();
    if (random_.OneIn(150)) SetClockBack();
    if (random_.OneIn(200)) target_.Restart();
    target_.PassTo(now_);
    switch (random_.Below(16)) {
      case 0:
      case 1:
      case 2:
        return Decide();
      case 3:
        return Give();
      case 4:
        return random_.OneIn(4)
                   ? Reset()
                   : target_.Reload(kReservedKeys[random_.Below(kReservedKeys.size())]);
      case 5:
      case 6:
        return Cancel();
      case 7:
      case 8:
        return Extend();
      case 9:
      case 10:
      case 11:
        return Commit();
      default:
        return Reserve();
    }
  }
  uint64_t seed() const { return random_.seed(); }
  const Target& target() const { return target_; }

 private:
  using Use = ReservedUse;

  static constexpr int64_t kBegin = 1'700'000'000'000;
  static constexpr std::array<std::string_view, 6> kIds{"1", "2", "order:3", "4", "5", "6"};

  void PassTime() {
    if (random_.OneIn(3)) return;
    if (random_.OneIn(4)) {
      // At the end of a hold, or just before.
      for (const NaiveReserved& key : naive_) {
        for (const auto& [id, hold] : key.ids) {
          const int64_t end = hold.state == HoldState::kHeld ? hold.deadline : hold.forget_at;
          if (end > now_ && random_.OneIn(3)) {
            now_ = end - random_.Between(0, 1);
            return;
          }
        }
      }
    }
    now_ += random_.Between(0, random_.OneIn(6) ? 900'000 : 4'000);
    if (random_.OneIn(300)) now_ += random_.Between(0, 90'000'000);
  }

  // What has ended stays so.
  void SetClockBack() {
    target_.PassTo(now_);
    SettleNaive();
    target_.Forget();
    now_ -= random_.Between(1, random_.OneIn(2) ? 5'000 : 4'000'000);
    for (NaiveReserved& key : naive_) key.SetBack(now_);
    target_.SetBackTo(now_);
    RequireAll();
  }

  LimitRule RandomRule(bool reserves) {
    if (reserves && random_.OneIn(10)) {
      return LimitRule::Holds(random_.Between(1, 40'000), random_.Between(1, 1'000));
    }
    LimitRule rule = RandomPlainRule(reserves);
    rule.shadow = rule.algorithm != LimitAlgorithm::kLockout && random_.OneIn(4);
    return rule;
  }
  LimitRule RandomPlainRule(bool reserves) {
    constexpr std::array<int64_t, 4> kPeriods{700, 7'000, 60'000, 3'600'000};
    const int64_t period = kPeriods[random_.Below(kPeriods.size())];
    const int64_t limit = random_.Between(random_.OneIn(20) ? 0 : 1, 12);
    Zone& zone = zones().utc();
    switch (random_.Below(reserves ? 10 : 8)) {
      case 0:
        return LimitRule::Fixed(limit, period);
      case 1:
        return LimitRule::Sliding(limit, period);
      case 2:
        return LimitRule::Rolling(limit, period);
      case 3:
        return RandomCalendar(limit, random_.OneIn(2) ? zone : *zones().Find("Asia/Kathmandu"));
      case 4:
        return LimitRule::Base(random_.Between(0, 6), random_.Between(0, 4), period, zone);
      case 5:
        return LimitRule::Bucket(limit, random_.Between(1, 5), period);
      case 6:
        return LimitRule::Lockout(limit, period, RandomBlock());
      case 7:
        return random_.OneIn(3) ? LimitRule::Allow()
                                : LimitRule::Fixed(limit, period, random_.OneIn(2) ? 77 : now_);
      default:
        return LimitRule::Concurrent(limit);
    }
  }

  LimitRule RandomCalendar(int64_t limit, Zone& zone) {
    constexpr std::array<std::string_view, 4> kStarts{"20:00", "sunday", "31", "02-29"};
    const auto unit = static_cast<CalendarUnit>(random_.Below(7));
    if (unit < CalendarUnit::kDay || random_.OneIn(2)) {
      return LimitRule::Calendar(limit, unit, zone);
    }
    const auto place = static_cast<size_t>(unit) - static_cast<size_t>(CalendarUnit::kDay);
    return LimitRule::Calendar(limit, unit, zone, *ParseCalendarStart(kStarts[place], unit));
  }

  // Often the same, so that the next block of one that grew comes.
  LockoutBlock RandomBlock() {
    if (random_.OneIn(2)) return {.first_ms = 5'000};
    if (random_.OneIn(2)) return {.first_ms = 5'000, .factor = 2'000, .most_ms = 60'000};
    const int64_t first_ms = random_.Between(1, 100'000);
    return {.first_ms = first_ms,
            .factor = random_.Between(1'000, 3'000),
            .most_ms = first_ms * random_.Between(1, 20)};
  }

  ZoneSource& zones() { return target_.zones(); }

  // Often of the rules of the last one, so that their limits are reached.
  std::vector<Use> RandomUses(bool reserves) {
    const auto begin = uses_.begin();
    const bool usable =
        !uses_.empty() && (reserves || std::none_of(begin, uses_.end(), HasConcurrent));
    if (usable && !random_.OneIn(5)) return uses_;
    uses_.clear();
    for (uint64_t uses = random_.OneIn(3) ? 2 : 1; uses > 0; --uses) {
      Use& use = uses_.emplace_back();
      use.key = random_.Below(kReservedKeys.size());
      for (uint64_t rules = 1 + random_.Below(2); rules > 0; --rules) {
        use.rules.push_back(RandomRule(reserves));
      }
    }
    return uses_;
  }
  std::vector<NaiveUse> NaiveUses(const std::vector<Use>& uses) {
    std::vector<NaiveUse> all;
    for (const Use& use : uses) all.push_back({&naive_[use.key].counters, use.rules});
    return all;
  }
  void SettleNaive() {
    for (NaiveReserved& key : naive_) key.Settle(now_);
  }

  // With `shows` the figures of the tightest rule, whatever the rules say.
  LimitDecision NaiveAnswer(const std::vector<Use>& uses, int64_t cost, int64_t at,
                            int64_t until = 0, bool shows = false) {
    const std::vector<NaiveUse> naive = NaiveUses(uses);
    LimitDecision answer;
    int place = 0;
    for (size_t i = 0; i < uses.size(); ++i) {
      for (const LimitRule& given : uses[i].rules) {
        ++place;
        if (given.shadow || !given.judges()) continue;
        const NaiveReserved& key = naive_[uses[i].key];
        const LimitRule rule = given.counts() ? NaiveAgreed(naive, &key.counters, given) : given;
        LimitDecision own = key.Judge(rule, cost, now_, std::min(at, now_), until);
        own.allowed |= shows;
        const bool tighter = answer.remaining < 0 || own.remaining < answer.remaining;
        if (own.allowed ? answer.allowed && tighter : answer.allowed) {
          answer.limit = own.limit;
          answer.remaining = own.remaining;
          const bool concurrent = given.algorithm == LimitAlgorithm::kConcurrent;
          answer.reset_after_ms = concurrent ? own.reset_after_ms : kOtherReset;
        }
        if (own.allowed) continue;
        if (answer.allowed) answer.rule = place;
        answer.allowed = false;
        const bool never = answer.retry_after_ms < 0 || own.retry_after_ms < 0;
        answer.retry_after_ms = never ? -1 : std::max(answer.retry_after_ms, own.retry_after_ms);
      }
    }
    return answer;
  }

  // Without the rules in SHADOW that would deny; `denied` gets them as LimitDecision has them.
  std::vector<Use> CountingOf(const std::vector<Use>& uses, int64_t cost, int64_t at,
                              uint64_t& denied) {
    const std::vector<NaiveUse> naive = NaiveUses(uses);
    std::vector<Use> counting;
    int place = 0;
    for (const Use& use : uses) {
      const NaiveReserved& key = naive_[use.key];
      Use& left = counting.emplace_back(Use{use.key, {}});
      for (const LimitRule& given : use.rules) {
        const LimitRule rule = given.counts() ? NaiveAgreed(naive, &key.counters, given) : given;
        const bool denies = given.shadow && given.judges() &&
                            !key.Judge(rule, cost, now_, std::min(at, now_), 0).allowed;
        denied |= uint64_t{denies} << place++;
        if (!denies) left.rules.push_back(given);
      }
    }
    return counting;
  }

  LimitDecision NaiveShown(const std::vector<Use>& uses) {
    return NaiveAnswer(uses, 0, now_, 0, true);
  }

  // The reset of the other rules says when the windows end and not when holds do.
  static constexpr int64_t kOtherReset = -2;
  static void RequireSame(LimitDecision answer, LimitDecision naive) {
    REQUIRE(answer.allowed == naive.allowed);
    REQUIRE(answer.limit == naive.limit);
    REQUIRE(answer.remaining == naive.remaining);
    REQUIRE(answer.retry_after_ms == naive.retry_after_ms);
    REQUIRE(answer.rule == naive.rule);
    if (naive.reset_after_ms == kOtherReset) return;
    REQUIRE(answer.reset_after_ms == naive.reset_after_ms);
  }

  int64_t RandomAt() {
    if (!random_.OneIn(5)) return now_;
    return now_ - random_.Between(-50, random_.OneIn(10) ? 10'000'000 : 9'000);
  }

  void Decide() {
    const std::vector<Use> uses = RandomUses(false);
    if (std::any_of(uses.begin(), uses.end(), HasConcurrent)) return;
    const int64_t cost = random_.Between(0, 4);
    const int64_t at = RandomAt();
    const auto mode = static_cast<LimitMode>(random_.Below(3));
    const std::vector<KeyRules> keys = RequestOf(uses);
    std::string once;
    if (mode != LimitMode::kPeek && random_.OneIn(3)) once = kIds[random_.Below(kIds.size())];
    SettleNaive();
    const LimitResult result =
        target_.Decide({.keys = keys, .cost = cost, .time = {at, now_}, .once = once}, mode);
    const std::vector<size_t> places = KeysOf(uses);
    if (!once.empty() && !AllAre(places, once, HoldState::kUnknown)) {
      // A retry, or an id of something else.
      REQUIRE(!result.counted);
      if (result.wrong.empty()) {
        REQUIRE(result.decision.allowed);
        REQUIRE(AllAre(places, once, HoldState::kCommitted));
      }
      return RequireAll();
    }
    INFO(TextOf(uses) << " COST " << cost << " late " << now_ - at);
    const LimitDecision naive = NaiveAnswer(uses, cost, at);
    RequireSame(result.decision, naive);
    if (mode == LimitMode::kPeek || (mode == LimitMode::kTake && !naive.allowed)) {
      REQUIRE(!result.counted);
    }
    uint64_t denied = 0;
    std::vector<Use> counting = CountingOf(uses, cost, at, denied);
    if (mode == LimitMode::kForce) counting = uses;
    if (Target::kTellsShadow) REQUIRE(result.decision.shadow_denied == denied);
    NaiveDecide(NaiveUses(uses), cost, now_, at, mode);
    if (!once.empty() && result.counted) {
      for (const size_t key : places) {
        naive_[key].Remember(once, RulesOf(counting, key), cost, now_);
      }
      keys_[once] = places;
    }
    for (NaiveReserved& key : naive_) key.Prune(now_);
    RequireAll();
  }

  void Reserve() {
    const std::vector<Use> uses = RandomUses(true);
    const std::string id(kIds[random_.Below(kIds.size())]);
    const int64_t cost = random_.Between(1, 4);
    const int64_t at = RandomAt();
    const int64_t ttl = random_.Between(1, random_.OneIn(3) ? 2'000'000 : 20'000);
    const std::vector<KeyRules> keys = RequestOf(uses);
    SettleNaive();
    const HoldResult result = target_.Reserve(
        {.id = id, .ttl_ms = ttl, .limits = {.keys = keys, .cost = cost, .time = {at, now_}}});
    size_t known = 0;
    HoldState settled = HoldState::kUnknown;
    const std::vector<size_t> places = KeysOf(uses);
    for (const size_t key : places) {
      const auto found = naive_[key].ids.find(id);
      if (found == naive_[key].ids.end()) continue;
      ++known;
      if (found->second.state != HoldState::kHeld && settled == HoldState::kUnknown) {
        settled = found->second.state;
      }
    }
    REQUIRE(result.settled_as == settled);
    if (settled != HoldState::kUnknown) return RequireAll();
    if (known > 0) {
      REQUIRE(!result.counted);
      if (result.wrong.empty()) {
        const NaiveHold& hold = naive_[places[0]].ids.at(id);
        INFO(TextOf(uses));
        RequireSame(result.decision, NaiveShown(uses));
        REQUIRE(result.token == hold.token);
        REQUIRE(hold.cost() + hold.counted == cost);
      }
      return RequireAll();
    }
    INFO(TextOf(uses) << " COST " << cost << " late " << now_ - at);
    if (ttl > LongestOf(uses)) {
      REQUIRE(!result.counted);
      return RequireAll();
    }
    const LimitDecision naive = NaiveAnswer(uses, cost, at, now_ + ttl);
    RequireSame(result.decision, WithHolds(uses, cost, naive));
    uint64_t denied = 0;
    const std::vector<Use> counting = CountingOf(uses, cost, at, denied);
    if (Target::kTellsShadow) REQUIRE(result.decision.shadow_denied == denied);
    REQUIRE(result.counted == result.decision.allowed);
    if (!result.decision.allowed) {
      REQUIRE(result.token == 0);
      return RequireAll();
    }
    for (const size_t key : places) {
      naive_[key].Hold(id, RulesOf(counting, key), cost, now_ + ttl, now_, std::min(at, now_));
      keys_[id] = places;
    }
    REQUIRE(result.token == naive_[places[0]].last_token);
    RequireAll();
  }

  // The keys that the id was last held on, or now and then others.
  std::vector<size_t> KeysFor(const std::string& id) {
    if (keys_.contains(id) && !random_.OneIn(10)) return keys_[id];
    return {random_.Below(kReservedKeys.size())};
  }
  static std::vector<KeyRules> NamesOf(const std::vector<size_t>& places) {
    std::vector<KeyRules> keys;
    for (const size_t key : places) keys.push_back({kReservedKeys[key], {}});
    return keys;
  }
  HoldState StateOf(size_t key, const std::string& id) const {
    const auto found = naive_[key].ids.find(id);
    return found == naive_[key].ids.end() ? HoldState::kUnknown : found->second.state;
  }
  bool AllAre(const std::vector<size_t>& places, const std::string& id, HoldState state) const {
    return std::all_of(places.begin(), places.end(),
                       [&](size_t key) { return StateOf(key, id) == state; });
  }

  void Commit() {
    const std::string id(kIds[random_.Below(kIds.size())]);
    const std::vector<size_t> places = KeysFor(id);
    CommitRequest request;
    request.id = id;
    const std::vector<KeyRules> keys = NamesOf(places);
    request.keys = keys;
    if (random_.OneIn(2)) request.cost = random_.Between(0, 6);
    request.late = random_.OneIn(4);
    request.keep = random_.OneIn(4);
    SettleNaive();
    const HoldState before = StateOf(places[0], id);
    const bool all_known = std::none_of(places.begin(), places.end(), [&](size_t key) {
      return StateOf(key, id) == HoldState::kUnknown;
    });
    request.force = random_.OneIn(4) && all_known;
    const SettleResult result = target_.Commit(request, now_);
    if (!result.wrong.empty()) {
      REQUIRE(!result.counted);
      return RequireAll();
    }
    REQUIRE(result.settled.found == before);
    for (const size_t key : places) {
      if (StateOf(key, id) == HoldState::kUnknown) continue;
      NaiveHold& hold = naive_[key].ids.at(id);
      const bool held = hold.state == HoldState::kHeld;
      if (hold.state == HoldState::kCommitted) {
        REQUIRE(result.settled.counted == hold.counted);
        REQUIRE(result.settled.held == hold.held);
        continue;
      }
      REQUIRE(result.counted == (held || request.force));
      if (!held && !request.force) continue;
      const int64_t actual = request.cost.value_or(held ? hold.cost() : hold.held);
      REQUIRE(result.settled.counted == actual);
      naive_[key].Commit(hold, actual, request.late, request.keep, now_);
    }
    RequireAll();
  }

  void Cancel() {
    const std::string id(kIds[random_.Below(kIds.size())]);
    const std::vector<size_t> places = KeysFor(id);
    SettleNaive();
    const SettleResult result = target_.Cancel(id, NamesOf(places), now_);
    const bool held = AllAre(places, id, HoldState::kHeld);
    if (result.wrong.empty()) {
      REQUIRE(result.counted == held);
      REQUIRE(result.settled.found == StateOf(places[0], id));
      for (const size_t key : places) {
        if (held) naive_[key].Cancel(naive_[key].ids.at(id), now_);
      }
    }
    RequireAll();
  }

  void Extend() {
    const std::string id(kIds[random_.Below(kIds.size())]);
    const std::vector<size_t> places = KeysFor(id);
    const int64_t more = random_.OneIn(2) ? 0 : random_.Between(1, 4);
    const int64_t ttl = random_.Between(1, 30'000);
    SettleNaive();
    const HoldResult result =
        target_.Extend({.id = id,
                        .ttl_ms = ttl,
                        .limits = {.keys = NamesOf(places), .cost = more, .time = {now_, now_}}});
    if (!AllAre(places, id, HoldState::kHeld)) {
      REQUIRE(!result.counted);
      return RequireAll();
    }
    int64_t latest = kNaiveMax;
    for (const size_t key : places) latest = std::min(latest, naive_[key].ids.at(id).latest);
    if (!result.wrong.empty() || now_ + ttl > latest) {
      REQUIRE(!result.counted);
      return RequireAll();
    }
    std::vector<Use> uses;
    for (const size_t key : places) uses.push_back({key, naive_[key].ids.at(id).rules});
    INFO(TextOf(uses) << " MORE " << more);
    const int64_t cost = naive_[places[0]].ids.at(id).cost() + more;
    LimitDecision naive = WithHolds(uses, cost, NaiveAnswer(uses, more, now_));
    const bool allowed = more == 0 || naive.allowed;
    REQUIRE(result.counted == allowed);
    const int64_t left_ms = naive_[places[0]].ids.at(id).deadline - now_;
    for (const size_t key : places) {
      if (allowed) naive_[key].Extend(naive_[key].ids.at(id), more, now_ + ttl, now_);
    }
    if (naive.retry_after_ms >= left_ms) naive.retry_after_ms = -1;
    RequireSame(result.decision, allowed ? NaiveShown(uses) : naive);
    RequireAll();
  }

  void Give() {
    const size_t key = random_.Below(kReservedKeys.size());
    const int64_t count = random_.Between(0, 3);
    target_.Give(kReservedKeys[key], count, now_);
    if (count == 0) return;
    SettleNaive();
    naive_[key].Give(count, now_);
    RequireAll();
  }

  void Reset() {
    const size_t key = random_.Below(kReservedKeys.size());
    target_.Reset(kReservedKeys[key]);
    naive_[key] = NaiveReserved();
    RequireAll();
  }

  // What is held is what the model holds, and no key outlives it.
  void RequireAll() {
    SettleNaive();
    for (size_t key = 0; key < kReservedKeys.size(); ++key) {
      std::vector<HeldShown> held;
      target_.Held(kReservedKeys[key], held);
      size_t expected = 0;
      for (const auto& [id, hold] : naive_[key].ids) {
        if (hold.state != HoldState::kHeld) continue;
        ++expected;
        const auto shown = std::find_if(held.begin(), held.end(),
                                        [&](const HeldShown& one) { return one.id == id; });
        REQUIRE(shown != held.end());
        REQUIRE(shown->cost == hold.cost());
        REQUIRE(shown->deadline_ms == hold.deadline);
        REQUIRE(shown->token == hold.token);
      }
      REQUIRE(held.size() == expected);
    }
  }

  SeededRandom random_;
  Target target_;
  int64_t now_ = kBegin;
  std::array<NaiveReserved, kReservedKeys.size()> naive_;
  std::vector<Use> uses_;
  std::map<std::string, std::vector<size_t>> keys_;
};

}  // namespace tally::test
