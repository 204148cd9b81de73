// LIMIT against a naive model, and what must hold whatever is asked.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "core/limit/limit.h"
#include "core/limit/limit_show.h"
#include "core/time/duration.h"
#include "core/tzdata/tzdata_zones.h"
#include "limit_naive_decide.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::limit_model_test {
namespace {

using test::NaiveCounter;
using test::NaiveKey;
using test::NaiveUse;

constexpr size_t kKeys = 3;

// What a step asks: the rules of some keys, each named by its place.
struct Question {
  struct Use {
    size_t key;
    std::vector<LimitRule> rules;
  };
  std::vector<Use> uses;
  int64_t cost = 1;
  int64_t now = 0;
  int64_t at = 0;
};

using States = std::array<LimitState, kKeys>;

LimitDecision Ask(States& states, const Question& question, LimitMode mode) {
  std::vector<LimitUse> uses;
  for (const Question::Use& use : question.uses) uses.push_back({&states[use.key], use.rules});
  return DecideLimits(uses, question.cost, question.now, question.at, mode);
}

std::string Encoded(const LimitState& state) {
  std::string bytes;
  state.Encode(bytes);
  return bytes;
}

// The counters in an order of their own.
std::vector<std::string> CountersOf(const LimitState& state) {
  std::vector<std::string> counters;
  for (const LimitCounter& counter : state.counters()) {
    LimitState alone;
    LimitCounter& copy = alone.FindOrAdd(counter.key);
    copy.numbers = counter.numbers;
    copy.late_ms = counter.late_ms;
    if (counter.log != nullptr) copy.log = std::make_unique<TimeLog>(*counter.log);
    counters.push_back(Encoded(alone));
  }
  std::sort(counters.begin(), counters.end());
  return counters;
}

LimitState Reloaded(const LimitState& state) {
  std::string bytes;
  for (uint64_t cursor = 0;;) {
    cursor = state.Save(cursor, 7, bytes);
    if (cursor == 0) break;
  }
  LimitState loaded;
  REQUIRE(loaded.Load(bytes));
  REQUIRE(Encoded(loaded) == Encoded(state));
  return loaded;
}

class ModelRun {
 public:
  void Step() {
    PassTime();
    if (random_.OneIn(12)) {
      Give();
    } else if (random_.OneIn(60)) {
      const size_t key = random_.Below(kKeys);
      states_[key] = LimitState();
      naive_[key].clear();
    } else {
      Decide();
    }
    const size_t key = random_.Below(kKeys);
    if (random_.OneIn(6)) states_[key] = Reloaded(states_[key]);
    // As the server does with a key whose deadline has passed.
    if (random_.OneIn(2) && states_[key].ExpiresAt() <= now_) states_[key] = LimitState();
    if (random_.OneIn(50)) SetClockBack();
    RequireSame(key);
  }

  uint64_t seed() const { return random_.seed(); }

 private:
  void PassTime() {
    if (random_.OneIn(3)) return;
    const int64_t edge = states_[random_.Below(kKeys)].ExpiresAt();
    if (random_.OneIn(5) && edge > now_ && edge < now_ + 100 * kDayMs) {
      now_ = edge - random_.Between(0, 1);
    } else if (random_.OneIn(20)) {
      now_ += random_.Between(0, 2 * kDayMs);
    } else {
      now_ += random_.Between(0, random_.OneIn(4) ? 4'000'000 : 3'000);
    }
    // Back to before the changes of daylight saving, with nothing kept.
    if (now_ > kBegin + 400 * kDayMs) {
      now_ = kBegin + random_.Between(0, 40 * kDayMs);
      for (size_t key = 0; key < kKeys; ++key) {
        states_[key] = LimitState();
        naive_[key].clear();
      }
    }
  }

  void SetClockBack() {
    // What has expired stays so.
    for (size_t key = 0; key < kKeys; ++key) {
      states_[key].Prune(now_);
      std::erase_if(naive_[key], [this](const auto& one) { return one.ExpiresAt() <= now_; });
    }
    now_ -= random_.Between(1, random_.OneIn(2) ? 5'000 : kDayMs);
  }

  int64_t RandomAt() {
    constexpr std::array<int64_t, 5> kFar{900, 9'000, 90'000, 8'000'000, 2 * kDayMs};
    const int64_t far = kFar[random_.Below(kFar.size())];
    switch (random_.Below(8)) {
      case 0:
        return now_ + random_.Between(1, far);
      case 1:
      case 2:
        return now_ - random_.Between(1, far);
      default:
        return now_;
    }
  }

  int64_t RandomCost() {
    if (random_.OneIn(200)) {
      constexpr std::array<int64_t, 4> kHuge{int64_t{1} << 31, int64_t{1} << 53, INT64_MAX / 3,
                                             INT64_MAX};
      return kHuge[random_.Below(kHuge.size())];
    }
    return random_.OneIn(3) ? random_.Between(0, 5) : 1;
  }

  CalendarStart RandomStart(CalendarUnit unit) {
    if (random_.OneIn(2)) return {};
    constexpr std::array<std::array<std::string_view, 2>, 4> kStarts{
        {{"20:00", "00:01"}, {"sunday", "friday"}, {"31", "15T10:00"}, {"02-29", "04-06"}}};
    if (unit < CalendarUnit::kDay) return {};
    const auto place = static_cast<size_t>(unit) - static_cast<size_t>(CalendarUnit::kDay);
    return *ParseCalendarStart(kStarts[place][random_.Below(2)], unit);
  }

  LimitRule RandomCalendar(int64_t limit, Zone& zone) {
    const auto unit = static_cast<CalendarUnit>(random_.Below(7));
    return LimitRule::Calendar(limit, unit, zone, RandomStart(unit));
  }

  LockoutBlock RandomBlock() {
    constexpr std::array<int64_t, 4> kFirst{300, 5'000, 60'000, 5'000'000};
    LockoutBlock block{.first_ms = kFirst[random_.Below(kFirst.size())]};
    if (random_.OneIn(3)) return block;
    block.factor = random_.OneIn(20) ? 1'000'000'000 : random_.Between(1'000, 3'000);
    block.most_ms = block.first_ms * random_.Between(1, 20);
    return block;
  }

  LimitRule RandomRule() {
    constexpr std::array<int64_t, 3> kFroms{0, kBegin + 123, kBegin + 500 * kDayMs};
    constexpr std::array<int64_t, 4> kPeriods{700, 7'000, 60'000, 3'600'000};
    constexpr std::array<int64_t, 5> kRefills{1, 2, 3, 7, 50};
    const int64_t period = kPeriods[random_.Below(kPeriods.size())];
    const int64_t limit = random_.OneIn(100) ? INT64_MAX / 3'600'000 : random_.Between(0, 12);
    Zone& zone = zones_[random_.Below(zones_.size())];
    switch (random_.Below(18)) {
      case 0:
        return random_.OneIn(4) ? LimitRule::Deny() : LimitRule::Allow();
      case 1:
      case 2:
        return LimitRule::Fixed(limit, period);
      case 3:
      case 4:
        return LimitRule::Sliding(limit, period);
      case 5:
      case 6:
        return LimitRule::Rolling(limit, period);
      case 7:
      case 8:
        return RandomCalendar(limit, zone);
      case 9:
      case 10:
        return LimitRule::Base(random_.Between(0, 6), random_.Between(0, 4), period, zone,
                               RandomStart(CalendarUnit::kDay));
      case 11:
        return LimitRule::Fixed(limit, period, kFroms[random_.Below(kFroms.size())]);
      case 12:
      case 13:
      case 14:
        return LimitRule::Lockout(limit, period, RandomBlock());
      default:
        return LimitRule::Bucket(limit, kRefills[random_.Below(kRefills.size())], period);
    }
  }

  void ChangeNumbers(LimitRule& rule) {
    const LimitRule other = RandomRule();
    if (other.counts()) rule.limit = other.limit;
    rule.refill = 1 + static_cast<int64_t>(random_.Below(9));
    rule.base = static_cast<int64_t>(random_.Below(7));
    if (rule.algorithm == LimitAlgorithm::kLockout) rule.block = RandomBlock();
  }

  std::vector<Question::Use> RandomUses() {
    std::vector<Question::Use> uses(1 + random_.Below(random_.OneIn(3) ? 3 : 1));
    for (Question::Use& use : uses) {
      use.key = random_.Below(kKeys);
      for (uint64_t rules = 1 + random_.Below(3); rules > 0; --rules) {
        // Often one that shares its counter with the one before.
        if (!use.rules.empty() && random_.OneIn(3)) {
          use.rules.push_back(LimitRule(use.rules.back()));
          ChangeNumbers(use.rules.back());
        } else {
          use.rules.push_back(RandomRule());
        }
      }
    }
    return uses;
  }

  // Often of the rules of the last one, so that their limits are reached, or with changed numbers.
  Question RandomQuestion() {
    if (random_.OneIn(3)) uses_ = RandomUses();
    if (random_.OneIn(6)) ChangeNumbers(uses_.back().rules.back());
    return {.uses = uses_, .cost = RandomCost(), .now = now_, .at = RandomAt()};
  }

  std::vector<NaiveUse> NaiveUses(const Question& question) {
    std::vector<NaiveUse> uses;
    for (const Question::Use& use : question.uses) {
      uses.push_back({&naive_[use.key], use.rules});
    }
    return uses;
  }

  void Decide() {
    const Question question = RandomQuestion();
    const auto mode = static_cast<LimitMode>(random_.OneIn(5) ? random_.Below(3) : 0);
    States shuffled;
    for (size_t key = 0; key < kKeys; ++key) shuffled[key] = std::move(*states_[key].Clone());
    const LimitDecision peeked = Ask(states_, question, LimitMode::kPeek);
    const std::array<int64_t, 2> before = LeftOf(question, question.now);
    const std::array<int64_t, 2> before_then = LeftOf(question, question.at);
    const LimitDecision answer = Ask(states_, question, mode);
    const LimitDecision naive =
        NaiveDecide(NaiveUses(question), question.cost, question.now, question.at, mode);
    INFO("mode " << static_cast<int>(mode) << " cost " << question.cost << " at - now "
                 << question.at - question.now);
    INFO("first rule: algorithm " << static_cast<int>(question.uses[0].rules[0].algorithm)
                                  << " period " << question.uses[0].rules[0].period_ms);
    REQUIRE(Figures(answer) == Figures(naive));
    REQUIRE(Figures(answer) == Figures(peeked));
    if (mode == LimitMode::kPeek || (mode == LimitMode::kTake && !answer.allowed)) {
      for (size_t key = 0; key < kKeys; ++key) {
        REQUIRE(Encoded(shuffled[key]) == Encoded(states_[key]));
      }
    }
    const std::array<int64_t, 2> after = LeftOf(question, question.now);
    const LimitAlgorithm first = question.uses[0].rules[0].algorithm;
    if (mode != LimitMode::kPeek) {
      // Never less than was left where it was judged, minus its cost.
      if (question.cost <= before_then[0]) REQUIRE(after[0] >= before_then[0] - question.cost);
      // Of what has come back since, a late hit may take some in a bucket whose refill has become
      // slower, when it begins a window of ROLLING, and when it starts a block that lasts until
      // now.
      const bool takes_more = question.at < question.now && (first == LimitAlgorithm::kRolling ||
                                                             first == LimitAlgorithm::kBucket ||
                                                             first == LimitAlgorithm::kLockout);
      if (question.cost <= before[0] && !takes_more) {
        REQUIRE(after[0] >= before[0] - question.cost);
      }
    }
    RequireAnyOrder(question, mode, shuffled);
    if (mode == LimitMode::kTake && !answer.allowed && question.cost > 0) SetBack(question);
  }

  void SetBack(const Question& question) {
    for (const Question::Use& use : question.uses) {
      const LimitUse one{&states_[use.key], use.rules};
      bool expected = false;
      for (const LimitRule& rule : use.rules) {
        for (NaiveCounter& counter : naive_[use.key]) {
          if (!rule.counts() || !counter.IsOf(rule) || !counter.IsAhead(now_)) continue;
          counter.SetBack(now_);
          expected = true;
        }
      }
      REQUIRE(SetBackLimits({&one, 1}, now_) == expected);
    }
  }

  // What the only rule of a question leaves at `at`, and its reset; all that there is for several.
  std::array<int64_t, 2> LeftOf(Question question, int64_t at) {
    if (question.uses.size() > 1 || question.uses[0].rules.size() > 1) return {-1, -1};
    question.cost = 0;
    question.at = at;
    const LimitDecision left = Ask(states_, question, LimitMode::kPeek);
    return {left.remaining, left.reset_after_ms};
  }

  void RequireAnyOrder(Question question, LimitMode mode, States& states) {
    for (Question::Use& use : question.uses) Shuffle(use.rules);
    Shuffle(question.uses);
    Ask(states, question, mode);
    for (size_t key = 0; key < kKeys; ++key) {
      REQUIRE(CountersOf(states[key]) == CountersOf(states_[key]));
    }
  }

  template <typename T>
  void Shuffle(std::vector<T>& all) {
    for (size_t i = all.size(); i > 1; --i) std::swap(all[i - 1], all[random_.Below(i)]);
  }

  void Give() {
    const size_t key = random_.Below(kKeys);
    const int64_t n = random_.OneIn(30) ? INT64_MAX : random_.Between(0, 4);
    const int64_t at = random_.OneIn(3) ? RandomAt() : kMaxInstantMs;
    states_[key].Give(n, now_, at);
    for (NaiveCounter& counter : naive_[key]) counter.Give(n, now_, at);
  }

  static std::vector<int64_t> Figures(const LimitDecision& one) {
    return {one.allowed ? 1 : 0, one.limit,          one.remaining,
            one.retry_after_ms,  one.reset_after_ms, one.rule};
  }

  void RequireSame(size_t key) {
    int64_t expires = now_;
    using Row = std::tuple<LimitAlgorithm, int64_t, int64_t>;
    std::vector<Row> expected;
    for (const NaiveCounter& counter : naive_[key]) {
      expires = std::max(expires, counter.ExpiresAt());
      // A counter that is not set back yet is shown in limit_test.cc.
      if (counter.Clock() > now_) return;
      for (const auto& [used, ends] : counter.Shown(now_)) {
        if (used > 0 && ends > now_) expected.push_back({counter.algorithm(), used, ends});
      }
    }
    REQUIRE(std::max(now_, states_[key].ExpiresAt()) == expires);
    std::vector<Row> shown;
    for (const LimitShown& row : ShowLimits(states_[key], now_)) {
      shown.push_back({row.algorithm, row.used, row.ends_ms});
    }
    std::sort(expected.begin(), expected.end());
    std::sort(shown.begin(), shown.end());
    for (const auto& [algorithm, used, ends] : shown) {
      UNSCOPED_INFO("shown: " << static_cast<int>(algorithm) << " " << used << " " << ends - now_);
    }
    for (const auto& [algorithm, used, ends] : expected) {
      UNSCOPED_INFO("expected: " << static_cast<int>(algorithm) << " " << used << " "
                                 << ends - now_);
    }
    REQUIRE(shown == expected);
  }

  static constexpr int64_t kDayMs = 86'400'000;
  // 2026-02-20, some weeks before the clocks change.
  static constexpr int64_t kBegin = 1'771'545'600'000;

  test::SeededRandom random_;
  std::vector<Zone> zones_{Zone(), *LoadZone("America/New_York"), *LoadZone("Australia/Lord_Howe"),
                           *LoadZone("Asia/Shanghai")};
  States states_;
  std::array<NaiveKey, kKeys> naive_;
  int64_t now_ = kBegin;
  std::vector<Question::Use> uses_ = RandomUses();
};

TEST_CASE("LIMIT answers as the naive model does") {
  ModelRun run;
  INFO("seed " << run.seed());
  for (uint64_t step = 0; step < test::Scaled(30'000); ++step) {
    INFO("step " << step);
    run.Step();
  }
}

LimitDecision DecideOne(LimitState& state, const LimitRule& rule, int64_t cost, int64_t now,
                        int64_t at, LimitMode mode = LimitMode::kTake) {
  const LimitUse use{&state, {&rule, 1}};
  return DecideLimits({&use, 1}, cost, now, at, mode);
}

TEST_CASE("what was denied is allowed when retry_after_ms has passed, and not before") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Zone zone = *LoadZone("Europe/Berlin");
  LimitState state;
  int64_t now = 1'774'000'000'000;
  int denials = 0;
  for (int step = 0; step < 20'000; ++step) {
    now += random.Between(0, 2'000);
    const int64_t limit = random.Between(1, 6);
    const std::array rules{LimitRule::Fixed(limit, 9'000),
                           LimitRule::Sliding(limit, 9'000),
                           LimitRule::Rolling(limit, 9'000),
                           LimitRule::Bucket(limit, random.Between(1, 20), 9'000),
                           LimitRule::Base(random.Between(0, 9), limit, 9'000, zone),
                           LimitRule::Calendar(limit, CalendarUnit::kMinute, zone),
                           LimitRule::Fixed(limit, 9'000, 777),
                           LimitRule::Lockout(limit, 7'000, {3'000, 1'500, 20'000})};
    const LimitRule& rule = rules[random.Below(rules.size())];
    const int64_t cost = random.Between(0, 3);
    const auto mode = random.OneIn(5) ? LimitMode::kForce : LimitMode::kTake;
    const LimitDecision decision = DecideOne(state, rule, cost, now, now, mode);
    if (decision.allowed || mode == LimitMode::kForce || decision.retry_after_ms < 0) continue;
    ++denials;
    const int64_t then = now + decision.retry_after_ms;
    REQUIRE(DecideOne(state, rule, cost, then, then, LimitMode::kPeek).allowed);
    REQUIRE_FALSE(DecideOne(state, rule, cost, then - 1, then - 1, LimitMode::kPeek).allowed);
  }
  REQUIRE(denials > 1'000);
}

TEST_CASE("malformed state is refused, never believed") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Zone zone = *LoadZone("Asia/Shanghai");
  LimitState state;
  const int64_t now = 1'700'000'000'000;
  const std::vector<LimitRule> rules{
      LimitRule::Fixed(9, 1'000),
      LimitRule::Sliding(9, 1'500),
      LimitRule::Rolling(9, 1'000),
      LimitRule::Bucket(9, 2, 1'000),
      LimitRule::Base(1, 9, 500, zone),
      LimitRule::Calendar(9, CalendarUnit::kWeek, zone),
      LimitRule::Fixed(9, 1'000, 5),
      LimitRule::Lockout(2, 1'000, {500, 2'000, 5'000}),
      LimitRule::Calendar(9, CalendarUnit::kMonth, zone, {.minute = 600, .day = 30}),
      LimitRule::Base(1, 9, 500, zone, {.minute = 1'200})};
  const LimitUse use{&state, rules};
  REQUIRE(DecideLimits({&use, 1}, 2, now, now, LimitMode::kTake).allowed);
  std::string bytes;
  state.Encode(bytes);
  for (int i = 0; i < 20'000; ++i) {
    std::string broken = bytes.substr(0, random.Below(bytes.size() + 1));
    for (uint64_t flips = random.Below(4); flips > 0 && !broken.empty(); --flips) {
      broken[random.Below(broken.size())] = static_cast<char>(random.Next());
    }
    LimitState loaded;
    if (!loaded.Load(broken)) continue;
    // Whatever was believed can be used.
    const LimitUse loaded_use{&loaded, rules};
    DecideLimits({&loaded_use, 1}, 1, now, now, LimitMode::kForce);
    loaded.Give(3, now, now);
    loaded.ExpiresAt();
  }
}

}  // namespace
}  // namespace tally::limit_model_test
