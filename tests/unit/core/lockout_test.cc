// LOCKOUT, case by case. limit_model_test.cc has it against a naive model.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/limit/limit.h"
#include "core/limit/limit_show.h"

namespace tally::lockout_test {
namespace {

constexpr int64_t kT0 = 1'700'000'000'000;
constexpr int64_t kMinute = 60'000;
constexpr int64_t kHour = 60 * kMinute;

// Three wrong codes in ten minutes: an hour, then two, then four, up to a day.
const LimitRule kGrowing = LimitRule::Lockout(
    3, 10 * kMinute, {.first_ms = kHour, .factor = 2'000, .most_ms = 24 * kHour});
const LimitRule kPlain = LimitRule::Lockout(3, 10 * kMinute, {.first_ms = kHour});

struct Door {
  LimitDecision Ask(int64_t now, LimitMode mode = LimitMode::kTake, int64_t cost = 1,
                    int64_t at = -1) {
    const LimitUse use{&state, {&rule, 1}};
    return DecideLimits({&use, 1}, cost, now, at < 0 ? now : at, mode);
  }
  // Uses all tries at once, and returns how long it blocks.
  int64_t Lock(int64_t now) {
    REQUIRE(Ask(now, LimitMode::kTake, rule.limit).allowed);
    const LimitDecision next = Ask(now, LimitMode::kPeek);
    REQUIRE_FALSE(next.allowed);
    return next.retry_after_ms;
  }

  LimitRule rule = kGrowing;
  LimitState state;
};

TEST_CASE("the hit that uses the last one starts a block, in which all are denied") {
  Door door{.rule = kPlain, .state = {}};
  CHECK(door.Ask(kT0).remaining == 2);
  CHECK(door.Ask(kT0 + kMinute).reset_after_ms == 9 * kMinute);
  const LimitDecision last = door.Ask(kT0 + 2 * kMinute);
  CHECK(last.allowed);
  CHECK(last.remaining == 0);
  CHECK(last.reset_after_ms == kHour);
  const LimitDecision denied = door.Ask(kT0 + 12 * kMinute);
  CHECK_FALSE(denied.allowed);
  CHECK(denied.retry_after_ms == 50 * kMinute);
  CHECK(denied.reset_after_ms == 50 * kMinute);
  CHECK_FALSE(door.Ask(kT0 + 62 * kMinute - 1).allowed);
  // The period ended with the block, and so did all that was kept.
  CHECK(door.state.ExpiresAt() == kT0 + 62 * kMinute);
  CHECK(door.Ask(kT0 + 62 * kMinute).remaining == 2);
}

TEST_CASE("a period that ends in time blocks nobody") {
  Door door;
  door.Ask(kT0);
  door.Ask(kT0 + 1);
  CHECK(door.Ask(kT0 + 10 * kMinute).remaining == 2);
}

TEST_CASE("what is denied in a block lengthens nothing, not even if it is forced") {
  Door door{.rule = kPlain, .state = {}};
  door.Lock(kT0);
  for (int64_t at = kT0; at < kT0 + kHour; at += kMinute) {
    CHECK_FALSE(door.Ask(at).allowed);
    CHECK_FALSE(door.Ask(at, LimitMode::kForce, 5).allowed);
  }
  CHECK(door.Ask(kT0 + kHour).remaining == 2);
}

TEST_CASE("further blocks grow up to the most, and the first is short again after that long") {
  Door door;
  int64_t now = kT0;
  for (const int64_t hours : {1, 2, 4, 8, 16, 24, 24}) {
    CHECK(door.Lock(now) == hours * kHour);
    now += hours * kHour;
  }
  CHECK(door.Lock(now + 24 * kHour - 1) == 24 * kHour);
  now += 48 * kHour - 1;
  CHECK(door.state.ExpiresAt() == now + 24 * kHour);
  CHECK(door.Lock(now + 24 * kHour) == kHour);
}

TEST_CASE("a factor may have a fraction, and a huge one saturates") {
  Door door;
  door.rule.block = {.first_ms = 1, .factor = 1'500, .most_ms = kHour};
  CHECK(door.Lock(kT0) == 1);
  CHECK(door.Lock(kT0 + 1) == 2);  // rounded up, or it would never grow
  CHECK(door.Lock(kT0 + 3) == 3);
  CHECK(door.Lock(kT0 + 6) == 5);
  door.rule.block = {.first_ms = 1, .factor = INT64_MAX, .most_ms = INT64_C(253402300799999)};
  CHECK(door.Lock(kT0 + 11) == door.rule.block.most_ms);
}

TEST_CASE("who succeeds with the last try gives it back, and the block is over") {
  Door door;
  door.Lock(kT0);
  door.Lock(kT0 + kHour);
  const int64_t third = kT0 + 3 * kHour;
  CHECK(door.Lock(third) == 4 * kHour);
  door.state.Give(1, third + 5, kT0 * 2);
  const LimitDecision after = door.Ask(third + 10, LimitMode::kPeek, 0);
  CHECK(after.allowed);
  CHECK(after.remaining == 1);
  CHECK(after.reset_after_ms == 10 * kMinute - 10);
  // The next block takes the place of the one that was given back.
  CHECK(door.Ask(third + 20).allowed);
  CHECK(door.Ask(third + 20, LimitMode::kPeek).retry_after_ms == 4 * kHour);
  // A first one leaves nothing.
  Door first;
  first.Lock(kT0);
  first.state.Give(3, kT0 + 1, kT0 * 2);
  CHECK(first.state.empty());
}

TEST_CASE("to give back after the block, or what was taken after its instant, changes nothing") {
  Door door;
  door.Lock(kT0);
  door.state.Give(1, kT0 + 5, kT0 - 1);
  CHECK_FALSE(door.Ask(kT0 + 6).allowed);
  door.state.Give(3, kT0 + kHour, kT0 * 2);
  CHECK(door.Lock(kT0 + kHour) == 2 * kHour);
}

TEST_CASE("a block from a clock that was ahead costs at most one block") {
  Door door;
  const int64_t ahead = kT0 + 400 * 24 * kHour;
  door.Lock(ahead);
  CHECK(door.Ask(kT0).retry_after_ms == kHour);
  const LimitUse use{&door.state, {&door.rule, 1}};
  CHECK(SetBackLimits({&use, 1}, kT0));
  CHECK_FALSE(door.Ask(kT0 + kHour - 1).allowed);
  CHECK(door.Ask(kT0 + kHour).allowed);
}

TEST_CASE("a late hit is denied by the block that began after it") {
  Door door;
  door.Lock(kT0);
  const LimitDecision late = door.Ask(kT0 + 30 * kMinute, LimitMode::kTake, 1, kT0 - kHour);
  CHECK_FALSE(late.allowed);
  CHECK(late.retry_after_ms == kHour);
  // Its own place is before the block, or in it: nothing is counted.
  door.Ask(kT0 + kHour + 1, LimitMode::kForce, 3, kT0 + kMinute);
  CHECK(door.Ask(kT0 + kHour + 2, LimitMode::kPeek).allowed);
}

TEST_CASE("the block after one of late hits is kept no longer than one of hits in time") {
  Door late;
  late.Ask(kT0 + 30 * kMinute, LimitMode::kTake, 3, kT0);
  Door in_time;
  in_time.Ask(kT0, LimitMode::kTake, 3);
  for (Door* door : {&late, &in_time}) {
    CHECK(door->Lock(kT0 + 2 * kHour) == 2 * kHour);
    CHECK(door->state.ExpiresAt() == kT0 + 28 * kHour);
  }
}

TEST_CASE("a changed limit or block takes effect at once; what is on stays on") {
  Door door{.rule = kPlain, .state = {}};
  door.Ask(kT0);
  door.Ask(kT0);
  door.rule.limit = 2;
  CHECK_FALSE(door.Ask(kT0 + 1).allowed);
  CHECK(door.Ask(kT0 + 1).retry_after_ms == 10 * kMinute - 1);
  door.rule = kGrowing;
  CHECK(door.Ask(kT0 + 2).allowed);
  door.rule.limit = 10;
  CHECK_FALSE(door.Ask(kT0 + 3).allowed);
}

TEST_CASE("a limit of 0 denies all, and a cost above the limit never fits") {
  Door door{.rule = LimitRule::Lockout(0, kMinute, {.first_ms = kHour}), .state = {}};
  CHECK(door.Ask(kT0).retry_after_ms == -1);
  door.rule.limit = 2;
  CHECK(door.Ask(kT0, LimitMode::kTake, 3).retry_after_ms == -1);
  CHECK(door.state.empty());
}

TEST_CASE("rules of one command that share a counter agree on the strictest block") {
  const LimitRule rules[] = {LimitRule::Lockout(9, 10 * kMinute, {.first_ms = 4 * kHour}),
                             kGrowing};
  LimitState state;
  const LimitUse use{&state, rules};
  REQUIRE(DecideLimits({&use, 1}, 3, kT0, kT0, LimitMode::kTake).allowed);
  const LimitDecision denied = DecideLimits({&use, 1}, 1, kT0, kT0, LimitMode::kTake);
  CHECK(denied.retry_after_ms == 4 * kHour);
  CHECK(denied.rule == 1);
}

TEST_CASE("the state is as small as the numbers in it, and shows its block and step") {
  Door door;
  std::string bytes;
  door.Ask(kT0);
  door.state.Encode(bytes);
  CHECK(bytes.size() == 11);
  door.Ask(kT0, LimitMode::kTake, 2);
  bytes.clear();
  door.state.Encode(bytes);
  CHECK(bytes.size() <= 26);
  std::vector<LimitShown> shown = ShowLimits(door.state, kT0 + 1);
  REQUIRE(shown.size() == 1);
  CHECK(shown[0].unit == "block");
  CHECK(shown[0].used == 1);
  CHECK(shown[0].ends_ms == kT0 + kHour);
  door.Ask(kT0 + kHour);
  shown = ShowLimits(door.state, kT0 + kHour);
  REQUIRE(shown.size() == 2);
  CHECK(shown[0].unit.empty());
  CHECK(shown[0].used == 1);
  CHECK(shown[1].unit == "remembered");
  CHECK(shown[1].ends_ms == kT0 + 25 * kHour);
}

}  // namespace
}  // namespace tally::lockout_test
