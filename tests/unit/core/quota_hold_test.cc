// Orders of a quota book that are held until they are confirmed.
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/quota/quota_book.h"
#include "quota_fixture.h"

namespace tally::quota_hold_test {
namespace {

using test::HistoryOf;
using test::LeftOf;
using test::Lefts;

constexpr int64_t kNow = 1'760'000'000'000;
constexpr int64_t kMinute = 60'000;
constexpr int64_t kDay = 86'400'000;
constexpr int64_t kTtl = 10 * kMinute;
constexpr int64_t kUser = 7;
constexpr int64_t kLimit = 100'000;

class Shop {
 public:
  // The user has bought so many of the SKU 2, each in an order of its own.
  explicit Shop(int64_t bought = 0, int64_t window_ms = kDay) {
    const int64_t sku_2 = 2;
    book_.SetLimits(std::vector<QuotaLimitSpec>{{1, 0, kLimit, window_ms}, {sku_2, 0, 9, kDay}},
                    kNow);
    for (int64_t i = 0; i < bought; ++i) Sell(1'000'000 + i, sku_2, 1, kNow, kNow, 0, false);
  }

  QuotaBook::BuyResult Sell(const QuotaId& order, int64_t sku, int32_t qty, int64_t ts_ms,
                            int64_t now_ms, int64_t hold_ms, bool if_left = true,
                            bool once = false) {
    const std::vector<QuotaItem> items = {{sku, 0, qty}};
    QuotaLefts left;
    QuotaOrder sold{kUser, order, items, ts_ms, if_left, once};
    sold.hold_ms = hold_ms;
    return book_.Buy(sold, now_ms, left);
  }
  bool Hold(const QuotaId& order, int32_t qty, int64_t now_ms, int64_t hold_ms = kTtl) {
    return Sell(order, 1, qty, now_ms, now_ms, hold_ms).applied;
  }
  int32_t Return(const QuotaId& order, int32_t qty, int64_t now_ms) {
    std::vector<int32_t> credited;
    book_.Return({kUser, order, std::vector<QuotaReturnItem>{{1, qty}}, now_ms}, now_ms, credited);
    return credited[0];
  }
  bool Confirm(const QuotaId& order, int64_t now_ms) {
    return book_.Confirm(kUser, order, now_ms).bought;
  }
  int64_t Left(int64_t now_ms) const { return LeftOf(book_, kUser, 1, now_ms)[0].second; }
  int64_t Next(int64_t now_ms) const {
    int64_t next_ms = -1;
    book_.Uses(kUser, std::vector<QuotaId>{1}, now_ms,
               [&](std::span<const QuotaUse> uses) { next_ms = uses[0].next_ms; });
    return next_ms;
  }
  void Reload() {
    QuotaBook loaded(2);
    for (const std::string& run : test::SaveAll(book_)) REQUIRE(loaded.Load(run));
    book_ = std::move(loaded);
  }
  QuotaBook& book() { return book_; }

 private:
  QuotaBook book_{1};
};

// A common user, and one whose purchases are in chunks.
int64_t FewOrMany() { return GENERATE(0, 300); }

TEST_CASE("what is held counts until its end, to the millisecond, and is gone then") {
  Shop shop(FewOrMany());
  REQUIRE(shop.Hold(1, 40, kNow));
  if (GENERATE(false, true)) shop.Reload();
  CHECK(shop.Left(kNow + kTtl - 1) == kLimit - 40);
  CHECK(shop.Next(kNow) == kNow + kTtl);
  CHECK(HistoryOf(shop.book(), kUser, kNow + kTtl - 1).back() ==
        QuotaPurchase{1, 1, 0, 40, kNow, kNow + kTtl});

  CHECK(shop.Left(kNow + kTtl) == kLimit);
  CHECK(shop.Next(kNow + kTtl) == 0);
  CHECK_FALSE(shop.Confirm(1, kNow + kTtl));
  CHECK(shop.Return(1, 40, kNow + kTtl) == 0);
  const auto history = HistoryOf(shop.book(), kUser, kNow + kTtl);
  CHECK((history.empty() || history.back().order != 1));
  // Its id is free, also for who asks for it once.
  CHECK(shop.Sell(1, 1, kLimit, kNow + kTtl, kNow + kTtl, kTtl, true, true).recorded);
}

TEST_CASE("what is confirmed is a purchase of when it was held, however often it is confirmed") {
  Shop shop(FewOrMany());
  REQUIRE(shop.Hold(1, 40, kNow));
  REQUIRE(shop.Hold(2, 5, kNow));
  CHECK(shop.book().Confirm(kUser, 1, kNow + kTtl - 1).changed);
  if (GENERATE(false, true)) shop.Reload();
  const QuotaBook::ConfirmResult again = shop.book().Confirm(kUser, 1, kNow + kTtl);
  CHECK(again.bought);
  CHECK_FALSE(again.changed);
  CHECK(shop.Left(kNow + kTtl) == kLimit - 40);
  CHECK(shop.Next(kNow + kTtl) == kNow + kDay);
  CHECK(shop.Left(kNow + kDay) == kLimit);
  // Nobody has bought the others, or a thing of another user.
  CHECK_FALSE(shop.Confirm(2, kNow + kTtl));
  CHECK_FALSE(shop.Confirm(3, kNow + kTtl));
  CHECK_FALSE(shop.book().Confirm(kUser + 1, 1, kNow + kTtl).bought);
}

TEST_CASE("what is held and returned is cancelled") {
  Shop shop(FewOrMany());
  REQUIRE(shop.Hold(1, 40, kNow));
  CHECK(shop.Return(1, 15, kNow) == 15);
  CHECK(shop.Left(kNow) == kLimit - 25);
  CHECK(shop.Return(1, 99, kNow) == 25);
  CHECK(shop.Left(kNow) == kLimit);
  CHECK_FALSE(shop.Confirm(1, kNow));
  // The id is known as long as the hold lasts.
  CHECK_FALSE(shop.Sell(1, 1, 1, kNow, kNow + kTtl - 1, kTtl, true, true).applied);
  CHECK(shop.Sell(1, 1, 1, kNow, kNow + kTtl, kTtl, true, true).applied);
}

TEST_CASE("a hold counts in a window that is shorter, and ends with what is kept at the latest") {
  Shop shop(FewOrMany(), kMinute);
  REQUIRE(shop.Hold(1, 40, kNow));
  CHECK(shop.Left(kNow + 5 * kMinute) == kLimit - 40);
  CHECK(shop.Confirm(1, kNow + 5 * kMinute));
  CHECK(shop.Left(kNow + 5 * kMinute) == kLimit);

  REQUIRE(shop.Hold(2, 40, kNow, 60 * kDay));
  const int64_t last = kNow + kDefaultQuotaRetentionMs;
  CHECK(shop.Left(last - 1) == kLimit - 40);
  CHECK(shop.Left(last) == kLimit);
  CHECK_FALSE(shop.Confirm(2, last));
}

TEST_CASE("a hold of a clock that ran ahead lasts no longer than asked, from when it is set back") {
  Shop shop(FewOrMany());
  const int64_t late = GENERATE(0, 20 * kDay);
  constexpr int64_t kAhead = kNow + 20 * kDay;
  REQUIRE(shop.Sell(1, 1, 40, kAhead - late, kAhead, kTtl).recorded);
  CHECK(shop.Left(kNow) == kLimit - 40);
  CHECK(shop.Next(kNow) == kNow + kTtl);
  CHECK(HistoryOf(shop.book(), kUser, kNow).back().held_until_ms == kNow + kTtl);
  CHECK(shop.Sell(9, 1, kLimit, kNow, kNow, 0).set_back);
  if (GENERATE(false, true)) shop.Reload();
  CHECK(shop.Left(kNow + kTtl - 1) == kLimit - 40);
  CHECK(shop.Left(kNow + kTtl) == kLimit);
}

TEST_CASE("a deleted limit and a reset forget what is held as they forget purchases") {
  Shop shop(FewOrMany());
  REQUIRE(shop.Hold(1, 40, kNow));
  shop.book().DelLimits(std::vector<QuotaId>{1}, {}, kNow);
  shop.book().SetLimits(std::vector<QuotaLimitSpec>{{1, 0, kLimit, kDay}}, kNow);
  CHECK(shop.Left(kNow) == kLimit);
  REQUIRE(shop.Hold(2, 5, kNow));
  CHECK(shop.Left(kNow) == kLimit - 5);
  CHECK(test::ResetOne(shop.book(), kUser, QuotaActions({0}), kNow));
  CHECK(shop.Left(kNow) == kLimit);
  CHECK(shop.Confirm(2, kNow));
  CHECK(shop.Left(kNow) == kLimit);
}

TEST_CASE("20,000 held orders of a user end each at its own instant") {
  constexpr int64_t kOrders = 20'000;
  Shop shop;
  for (int64_t i = 0; i < kOrders; ++i) REQUIRE(shop.Hold(i, 1, kNow, kTtl + i));
  if (GENERATE(false, true)) shop.Reload();
  for (const int64_t gone : {0, 1, 31, 32, 9'999, 20'000}) {
    CHECK(shop.Left(kNow + kTtl + gone - 1) == kLimit - kOrders + gone);
  }
  // Every third one is bought.
  for (int64_t i = 0; i < kOrders; i += 3) REQUIRE(shop.Confirm(i, kNow + kTtl - 1));
  CHECK(shop.Left(kNow + kTtl + kOrders) == kLimit - (kOrders + 2) / 3);
  shop.book().ExpireSome(kNow + kTtl + kOrders, 10'000'000);
  CHECK(shop.book().stats().purchases == (kOrders + 2) / 3);
  CHECK(HistoryOf(shop.book(), kUser, kNow + kTtl + kOrders).size() == (kOrders + 2) / 3);
}

TEST_CASE("holds are freed by the sweep, also after the retention has grown") {
  Shop shop;
  const int64_t held = GENERATE(1, 300);
  for (int64_t i = 0; i < held; ++i) REQUIRE(shop.Hold(i, 1, kNow));
  if (GENERATE(false, true)) shop.Reload();
  shop.book().SetLimits(std::vector<QuotaLimitSpec>{{9, 0, 1, 300 * kDay}}, kNow);
  shop.book().ExpireSome(kNow + kTtl - 1, 1'000'000);
  CHECK(shop.book().stats().purchases == static_cast<size_t>(held));
  shop.book().ExpireSome(kNow + kTtl, 1'000'000);
  shop.book().ExpireSome(kNow + kTtl, 1'000'000);
  CHECK(shop.book().stats().purchases == 0);
}

TEST_CASE("a block holds a hold of any length, and takes no more for purchases beside it") {
  const QuotaId order = GENERATE(QuotaId(5), QuotaId::Text("order 5"));
  const int64_t hold_ms = GENERATE(int64_t{1}, kTtl, std::numeric_limits<int64_t>::max());
  const int64_t held_at_ms = kNow + GENERATE(int64_t{0}, 5 * kDay);
  const PurchaseLine bought{4, 1, 2, kNow, kNow, 3, kNotReset};
  const PurchaseLine held{order,         1,          2,      kNow, kNow, 2'000'000'000,
                          kResetInTotal, held_at_ms, hold_ms};
  UserPurchases user;
  user.lines = {bought};
  std::string alone;
  EncodePurchases(user, alone);
  CHECK(alone.size() == 10);
  user.lines = {held, bought, held};
  std::string block;
  EncodePurchases(user, block);
  UserPurchases decoded;
  REQUIRE(DecodePurchases(block, decoded));
  CHECK(decoded.lines == user.lines);
  for (size_t size = 0; size < block.size(); ++size) {
    CHECK_FALSE(DecodePurchases(block.substr(0, size), decoded));
  }
}

}  // namespace
}  // namespace tally::quota_hold_test
