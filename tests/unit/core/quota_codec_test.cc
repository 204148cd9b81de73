#include <catch2/catch.hpp>
#include <limits>
#include <string>
#include <vector>

#include "core/quota/entity_key.h"
#include "core/quota/limit_block.h"
#include "core/quota/purchase_block.h"
#include "random_seed.h"

namespace tally {
namespace {

constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int32_t kMaxQty = std::numeric_limits<int32_t>::max();

UserPurchases RoundTrip(const UserPurchases& user) {
  std::string block;
  EncodePurchases(user, block);
  UserPurchases decoded;
  REQUIRE(DecodePurchases(block, decoded));
  return decoded;
}

int64_t AnyInt64(test::SeededRandom& random) {
  switch (random.Below(6)) {
    case 0:
      return random.Between(-2, 2);
    case 1:
      return kMin + random.Between(0, 2);
    case 2:
      return kMax - random.Between(0, 2);
    default:
      return static_cast<int64_t>(random.Next() >> random.Below(64)) * (random.OneIn(2) ? 1 : -1);
  }
}

UserPurchases AnyUser(test::SeededRandom& random) {
  UserPurchases user;
  const size_t lines = 1 + random.Below(20);
  for (size_t i = 0; i < lines; ++i) {
    PurchaseLine line;
    if (i > 0 && random.OneIn(2)) line = user.lines.back();
    if (i == 0 || random.OneIn(2)) {
      line.order = AnyInt64(random);
      line.ts_ms = AnyInt64(random);
      line.recorded_ms = random.OneIn(2) ? line.ts_ms : AnyInt64(random);
    }
    line.sku = AnyInt64(random);
    line.action = random.OneIn(2) ? 0 : AnyInt64(random);
    line.qty = static_cast<int32_t>(random.Next() & kMaxQty) >> random.Below(31);
    line.resets = static_cast<uint8_t>(random.Below(8) < 4 ? 0 : random.Below(4));
    user.lines.push_back(line);
  }
  for (size_t i = random.Below(5); i > 0; --i) {
    const PurchaseLine& line = user.lines[random.Below(lines)];
    user.returns.push_back({line.order, AnyInt64(random), AnyInt64(random)});
  }
  return user;
}

TEST_CASE("purchases of any numbers survive their block") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int i = 0; i < 3000; ++i) {
    const UserPurchases user = AnyUser(random);
    const UserPurchases decoded = RoundTrip(user);
    REQUIRE(decoded.lines == user.lines);
    REQUIRE(decoded.returns == user.returns);
  }
}

TEST_CASE("a line of extremes survives") {
  for (const int64_t extreme : {kMin, int64_t{0}, kMax}) {
    const UserPurchases user{{{extreme, extreme, extreme, extreme, kMin, kMaxQty, 3},
                              {kMin, kMax, kMin, kMax, kMax, 0, kNotReset},
                              {kMax, kMin, kMax, kMin, kMin, 6, kNotReset},
                              {kMax, kMin, kMax, kMin, kMin, 7, kNotReset}},
                             {{extreme, kMin, kMax}, {kMax, kMax, kMin}}};
    const UserPurchases decoded = RoundTrip(user);
    REQUIRE(decoded.lines == user.lines);
    REQUIRE(decoded.returns == user.returns);
  }
}

TEST_CASE("returns of an order without lines are left out of the block") {
  const UserPurchases user{{{5, 1, 0, 1000, 1000, 1, kNotReset}}, {{4, 1, 7}, {5, 1, 8}}};
  const std::vector<ReturnMark> kept = {{5, 1, 8}};
  REQUIRE(RoundTrip(user).returns == kept);
}

TEST_CASE("no prefix and no flipped byte of a block is read past its end") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int i = 0; i < 300; ++i) {
    std::string block;
    const UserPurchases user = AnyUser(random);
    EncodePurchases(user, block);
    UserPurchases decoded;
    for (size_t size = 0; size < block.size(); ++size) {
      // Copied, so that a sanitizer sees the end.
      const std::string prefix(block, 0, size);
      const bool whole = DecodePurchases(prefix, decoded);
      // Only returns may be missing: the lines are counted in front.
      if (whole) REQUIRE(decoded.lines == user.lines);
    }
    std::string flipped = block;
    flipped[random.Below(flipped.size())] ^= static_cast<char>(1 << random.Below(8));
    if (!DecodePurchases(flipped, decoded)) continue;
    for (const PurchaseLine& line : decoded.lines) REQUIRE(line.qty >= 0);
  }
}

TEST_CASE("limits of any numbers survive their block") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  constexpr int64_t kUnits[] = {1, 1000, 60'000, 3'600'000, 86'400'000};
  for (int i = 0; i < 3000; ++i) {
    std::vector<LimitEntry> entries;
    for (int64_t action : {kMin, int64_t{-3}, int64_t{0}, int64_t{7}, kMax}) {
      LimitEntry entry;
      entry.action = action;
      entry.is_set = random.OneIn(2);
      if (entry.is_set) {
        entry.limit = random.OneIn(5) ? kMaxQty : static_cast<int32_t>(random.Below(100));
        entry.window_ms = random.OneIn(5) ? kMax - static_cast<int64_t>(random.Below(3))
                                          : random.Between(1, 90) * kUnits[random.Below(5)];
        entry.set_at_ms = AnyInt64(random);
      }
      if (!entry.is_set || random.OneIn(2)) entry.deletion = {AnyInt64(random), AnyInt64(random)};
      if (!random.OneIn(3)) entries.push_back(entry);
    }
    if (entries.empty()) continue;
    std::string block;
    EncodeLimits(entries, block);
    std::vector<LimitEntry> decoded;
    REQUIRE(DecodeLimits(block, decoded));
    REQUIRE(decoded == entries);
    block.pop_back();
    if (DecodeLimits(std::string(block), decoded)) REQUIRE(decoded != entries);
  }
}

TEST_CASE("a limit block that no book can have written is refused") {
  std::vector<LimitEntry> entries(2);
  for (LimitEntry& entry : entries) {
    entry = {7, true, 1, 1000, 0, {}};
  }
  std::string block;
  EncodeLimits(entries, block);
  std::vector<LimitEntry> decoded;
  REQUIRE_FALSE(DecodeLimits(block, decoded));                         // an action twice
  REQUIRE_FALSE(DecodeLimits("", decoded));                            // nothing known of the SKU
  REQUIRE_FALSE(DecodeLimits(std::string(2, '\0'), decoded));          // neither set nor deleted
  REQUIRE_FALSE(DecodeLimits(std::string("\1\0\1\0\0", 5), decoded));  // a window of nothing
}

TEST_CASE("an id is its own key again") {
  for (const int64_t id : {kMin, int64_t{-129}, int64_t{-1}, int64_t{0}, int64_t{1}, int64_t{127},
                           int64_t{128}, int64_t{1} << 40, kMax}) {
    REQUIRE(EntityKey::IdOf(EntityKey(id).view()) == id);
  }
}

}  // namespace
}  // namespace tally
