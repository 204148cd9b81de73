// Each sentence of the rules by name.
#include "core/quota/quota_book.h"

#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "quota_fixture.h"

namespace tally::quota_book_test {
namespace {

using test::HistoryOf;
using test::Lefts;

constexpr int64_t kNow = 1'760'000'000'000;
constexpr int64_t kHour = 3'600'000;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kUser = 42;
constexpr int64_t kSku = 1001;

// A book and a clock that stands still until it is told.
struct Shop {
  QuotaBook book{1};
  int64_t now = kNow;

  void Set(int64_t sku, int64_t action, int32_t limit, int64_t window_ms = 30 * kDay) {
    book.SetLimits(std::vector<QuotaLimitSpec>{{sku, action, limit, window_ms}}, now);
  }
  size_t Del(int64_t sku, QuotaActions actions = {}) {
    return book.DelLimits(std::vector<QuotaId>{sku}, actions, now);
  }
  QuotaBook::BuyResult Buy(int64_t order, std::vector<QuotaItem> items, int64_t ts_ms = 0,
                           bool if_left = false, bool once = false) {
    QuotaLefts lefts;
    const auto result =
        book.Buy({kUser, order, items, ts_ms == 0 ? now : ts_ms, if_left, once}, now, lefts);
    after.clear();
    for (size_t i = 0; i < lefts.size(); ++i) after.push_back(test::LeftsOf(lefts, i));
    return result;
  }
  QuotaBook::BuyResult BuyIfLeft(int64_t order, std::vector<QuotaItem> items) {
    return Buy(order, std::move(items), 0, true);
  }
  std::vector<int32_t> Return(int64_t order, std::vector<QuotaReturnItem> items, int64_t ts_ms = 0,
                              bool once = false) {
    std::vector<int32_t> credited;
    book.Return({kUser, order, items, ts_ms == 0 ? now : ts_ms, once}, now, credited);
    return credited;
  }
  void Reset(std::vector<QuotaId> actions) {
    test::ResetOne(book, kUser, QuotaActions(std::move(actions)), now);
  }
  Lefts Left(int64_t sku = kSku) const { return test::LeftOf(book, kUser, sku, now); }
  size_t Kept() const { return HistoryOf(book, kUser, now).size(); }

  std::vector<Lefts> after;  // of the last Buy
};

TEST_CASE("the example: an unconfigured action counts for the total alone") {
  Shop shop;
  shop.Set(kSku, 0, 30);
  shop.Set(kSku, 1, 20);
  shop.Buy(1, {{kSku, 0, 5}});
  shop.Buy(2, {{kSku, 1, 10}});
  shop.Buy(3, {{kSku, 2, 15}});
  REQUIRE(shop.Left() == Lefts{{0, 0}, {1, 10}});
}

TEST_CASE("few SKUs or many are answered in the order asked for, each as often as asked for") {
  Shop shop;
  for (int64_t sku = 0; sku < 40; ++sku) {
    shop.Set(sku, 0, 100);
    shop.Buy(sku + 1, {{sku, 0, static_cast<int32_t>(sku)}});
  }
  for (const int64_t count : {1, 3, 7, 8, 9, 40}) {
    std::vector<QuotaId> asked;
    for (int64_t sku = count; sku-- > 0;) asked.insert(asked.end(), sku % 3 == 0 ? 2 : 1, sku);
    for (const bool prefetched : {false, true}) {
      QuotaLefts lefts;
      shop.book.Left(kUser, asked, shop.now, shop.now, lefts, prefetched);
      REQUIRE(lefts.size() == asked.size());
      for (size_t i = 0; i < asked.size(); ++i) {
        REQUIRE(lefts.sku(i) == asked[i]);
        REQUIRE(test::LeftsOf(lefts, i) == Lefts{{0, 100 - asked[i].number()}});
      }
    }
  }
}

TEST_CASE("a SKU without limits reads 0:-1, and purchases of it are kept") {
  Shop shop;
  REQUIRE(shop.Left() == Lefts{{0, -1}});
  shop.Buy(1, {{kSku, 3, 4}});
  REQUIRE(shop.after == std::vector<Lefts>{{{0, -1}}});
  shop.Set(kSku, 0, 10);
  REQUIRE(shop.Left() == Lefts{{0, 6}});
  shop.Set(kSku, 3, 10);
  REQUIRE(shop.Left() == Lefts{{0, 6}, {3, 6}});
}

TEST_CASE("left is never below zero, and -1 means no limit alone") {
  Shop shop;
  shop.Set(kSku, 7, 3);
  shop.Buy(1, {{kSku, 7, 4}});
  REQUIRE(shop.Left() == Lefts{{7, 0}});
  shop.Set(kSku, 7, 6);
  REQUIRE(shop.Left() == Lefts{{7, 2}});
}

TEST_CASE("a limit of 0 denies everything") {
  Shop shop;
  shop.Set(kSku, 0, 0);
  REQUIRE(shop.Left() == Lefts{{0, 0}});
  REQUIRE_FALSE(shop.BuyIfLeft(1, {{kSku, 5, 1}}).applied);
}

TEST_CASE("limits and quantities of the greatest size add up without overflow") {
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  Shop shop;
  shop.Set(kSku, 0, kMost, std::numeric_limits<int64_t>::max());
  shop.Buy(1, {{kSku, 0, kMost}, {kSku, 0, kMost}, {kSku, 0, kMost}},
           std::numeric_limits<int64_t>::max());
  REQUIRE(shop.Left() == Lefts{{0, 0}});
  REQUIRE(shop.Return(1, {{kSku, kMost}, {kSku, kMost}}) == std::vector<int32_t>{kMost, kMost});
  REQUIRE(shop.Left() == Lefts{{0, 0}});
  REQUIRE(shop.Return(1, {{kSku, 5}}) == std::vector<int32_t>{5});
  REQUIRE(shop.Left() == Lefts{{0, 5}});
}

TEST_CASE("a purchase counts until, and not at, its time plus the limit's window") {
  Shop shop;
  shop.Set(kSku, 0, 10, 1000);
  shop.Buy(1, {{kSku, 0, 4}});
  shop.now += 999;
  REQUIRE(shop.Left() == Lefts{{0, 6}});
  shop.now += 1;
  REQUIRE(shop.Left() == Lefts{{0, 10}});
}

TEST_CASE("a changed window counts at once, longer or shorter") {
  Shop shop;
  shop.Set(kSku, 0, 10, kHour);
  shop.Buy(1, {{kSku, 0, 4}});
  shop.now += 2 * kHour;
  REQUIRE(shop.Left() == Lefts{{0, 10}});
  shop.Set(kSku, 0, 10, 3 * kHour);
  REQUIRE(shop.Left() == Lefts{{0, 6}});
  shop.Set(kSku, 0, 10, kHour);
  REQUIRE(shop.Left() == Lefts{{0, 10}});
}

TEST_CASE("lines of one SKU all count, in one order and under one action too") {
  Shop shop;
  shop.Set(kSku, 0, 10);
  shop.Set(kSku, 1, 10);
  shop.Buy(1, {{kSku, 1, 2}, {kSku, 1, 3}, {kSku, 0, 1}});
  REQUIRE(shop.Left() == Lefts{{0, 4}, {1, 5}});
  REQUIRE(shop.after == std::vector<Lefts>(3, Lefts{{0, 4}, {1, 5}}));
}

TEST_CASE("a checked order takes all lines or none and names the first that does not fit") {
  Shop shop;
  shop.Set(kSku, 0, 5);
  shop.Set(kSku, 1, 3);
  auto result = shop.BuyIfLeft(1, {{7, 0, 100}, {kSku, 1, 2}, {kSku, 1, 2}, {kSku, 0, 9}});
  REQUIRE_FALSE(result.applied);
  REQUIRE(result.item == 3);
  REQUIRE_FALSE(result.recorded);
  REQUIRE(shop.after[1] == Lefts{{0, 5}, {1, 3}});
  REQUIRE(shop.Kept() == 0);

  result = shop.BuyIfLeft(2, {{kSku, 1, 3}, {kSku, 0, 2}});
  REQUIRE(result.applied);
  REQUIRE(result.item == 0);
  REQUIRE(shop.Left() == Lefts{{0, 0}, {1, 0}});
  REQUIRE(shop.BuyIfLeft(3, {{kSku, 2, 1}}).item == 1);  // the total has nothing left
}

TEST_CASE("a check looks at the limits that a line falls under, not at the SKU's others") {
  Shop shop;
  shop.Set(kSku, 1, 20);
  shop.Set(kSku, 0, 100);
  shop.Buy(1, {{kSku, 1, 10}});
  shop.Set(kSku, 1, 5);
  REQUIRE(shop.BuyIfLeft(2, {{kSku, 2, 1}}).applied);
  REQUIRE_FALSE(shop.BuyIfLeft(3, {{kSku, 1, 1}}).applied);
}

TEST_CASE("ONCE knows an order by its id, returned or not, until it is out of retention") {
  Shop shop;
  shop.Set(kSku, 0, 10);
  shop.Buy(1, {{kSku, 0, 4}});
  REQUIRE_FALSE(shop.Buy(1, {{kSku, 0, 4}}, 0, false, true).applied);
  REQUIRE(shop.after == std::vector<Lefts>{{{0, 6}}});
  shop.Return(1, {{kSku, 4}});
  REQUIRE_FALSE(shop.Buy(1, {{kSku, 0, 4}}, 0, false, true).applied);
  REQUIRE(shop.Left() == Lefts{{0, 10}});
  REQUIRE(shop.Buy(1, {{kSku, 0, 1}}).applied);  // without ONCE it is a further line
  shop.now += 30 * kDay;
  REQUIRE(shop.Buy(1, {{kSku, 0, 4}}, 0, false, true).applied);
  REQUIRE(shop.Left() == Lefts{{0, 6}});
}

TEST_CASE("a return takes from the order's lines as they were recorded, both totals regain it") {
  Shop shop;
  shop.Set(kSku, 0, 10);
  shop.Set(kSku, 1, 10);
  shop.Buy(1, {{kSku, 0, 2}, {kSku, 1, 3}});
  shop.Buy(2, {{kSku, 1, 1}});
  REQUIRE(shop.Return(1, {{kSku, 3}}) == std::vector<int32_t>{3});
  REQUIRE(shop.Left() == Lefts{{0, 7}, {1, 7}});
  REQUIRE(shop.Return(1, {{kSku, 9}}) == std::vector<int32_t>{2});
  REQUIRE(shop.Left() == Lefts{{0, 9}, {1, 9}});
  REQUIRE(shop.Return(1, {{kSku, 9}}) == std::vector<int32_t>{0});
  const std::vector<QuotaPurchase> kept = {
      {1, kSku, 0, 0, kNow}, {1, kSku, 1, 0, kNow}, {2, kSku, 1, 1, kNow}};
  REQUIRE(HistoryOf(shop.book, kUser, shop.now) == kept);
}

TEST_CASE("a return of what is unknown or expired credits 0") {
  Shop shop;
  shop.Buy(1, {{kSku, 0, 2}});
  REQUIRE(shop.Return(2, {{kSku, 1}}) == std::vector<int32_t>{0});
  REQUIRE(shop.Return(1, {{kSku + 1, 1}}) == std::vector<int32_t>{0});
  shop.now += 30 * kDay;
  REQUIRE(shop.Return(1, {{kSku, 1}}) == std::vector<int32_t>{0});
}

TEST_CASE("RETURN ONCE: the same order, SKU and time is not applied twice") {
  Shop shop;
  shop.Buy(1, {{kSku, 0, 9}, {7, 0, 9}});
  shop.Buy(2, {{kSku, 0, 9}});
  REQUIRE(shop.Return(1, {{kSku, 2}}, kNow, true) == std::vector<int32_t>{2});
  REQUIRE(shop.Return(1, {{kSku, 2}, {7, 1}}, kNow, true) == std::vector<int32_t>{0, 1});
  REQUIRE(shop.Return(2, {{kSku, 2}}, kNow, true) == std::vector<int32_t>{2});
  REQUIRE(shop.Return(1, {{kSku, 2}}, kNow + 1, true) == std::vector<int32_t>{2});
  REQUIRE(shop.Return(1, {{kSku, 2}}, kNow) == std::vector<int32_t>{2});  // did not say ONCE
}

TEST_CASE("RETURN ONCE knows returns that did not say ONCE, and lets go those that credited 0") {
  Shop shop;
  REQUIRE(shop.Return(1, {{kSku, 2}}, kNow, true) == std::vector<int32_t>{0});
  shop.Buy(1, {{kSku, 0, 9}});
  REQUIRE(shop.Return(1, {{kSku, 2}, {kSku, 3}}, kNow) == std::vector<int32_t>{2, 3});
  REQUIRE(shop.Return(1, {{kSku, 2}}, kNow, true) == std::vector<int32_t>{0});
}

TEST_CASE("an order id that comes again after its retention does not inherit the old returns") {
  Shop shop;
  shop.Buy(1, {{kSku, 0, 9}});
  REQUIRE(shop.Return(1, {{kSku, 2}}, kNow, true) == std::vector<int32_t>{2});
  shop.now += 30 * kDay;
  shop.Buy(1, {{kSku, 0, 9}});
  REQUIRE(shop.Return(1, {{kSku, 2}}, kNow, true) == std::vector<int32_t>{2});
}

TEST_CASE("lines of one SKU in one return are one return") {
  Shop shop;
  shop.Buy(1, {{kSku, 0, 9}});
  REQUIRE(shop.Return(1, {{kSku, 2}, {kSku, 3}}, kNow, true) == std::vector<int32_t>{2, 3});
}

TEST_CASE("deleted limits: what was bought until then never counts again") {
  Shop shop;
  shop.Set(kSku, 0, 10);
  shop.Set(kSku, 1, 10);
  shop.Buy(1, {{kSku, 1, 4}});
  REQUIRE(shop.Del(kSku, QuotaActions({1, 2})) == 1);
  REQUIRE(shop.Left() == Lefts{{0, 6}});
  shop.Set(kSku, 1, 10);
  REQUIRE(shop.Left() == Lefts{{0, 6}, {1, 10}});  // the zero total was not deleted
  shop.Buy(2, {{kSku, 1, 3}});                     // in the same millisecond
  REQUIRE(shop.Left() == Lefts{{0, 3}, {1, 7}});
  REQUIRE(shop.Del(kSku) == 2);
  REQUIRE(shop.Del(kSku) == 0);
  shop.Set(kSku, 0, 10);
  REQUIRE(shop.Left() == Lefts{{0, 10}});
}

TEST_CASE("a deletion parts purchases by when they were recorded, not by their time") {
  Shop shop;
  shop.Set(kSku, 0, 10);
  shop.Buy(1, {{kSku, 0, 1}}, kNow + kHour);  // from the future, recorded before
  shop.Del(kSku);
  shop.Set(kSku, 0, 10);
  REQUIRE(shop.Left() == Lefts{{0, 10}});
  shop.Buy(2, {{kSku, 0, 2}}, kNow - kHour);  // late, recorded after
  REQUIRE(shop.Left() == Lefts{{0, 8}});
  shop.now += 2 * kHour;
  REQUIRE(shop.Left() == Lefts{{0, 8}});
  shop.Del(kSku);
  shop.now -= kHour;  // a clock that is set back changes nothing
  shop.Set(kSku, 0, 10);
  shop.Buy(3, {{kSku, 0, 3}});
  REQUIRE(shop.Left() == Lefts{{0, 7}});
}

TEST_CASE("a deletion is forgotten when all it excludes is gone") {
  Shop shop;
  shop.Set(kSku, 0, 10);
  shop.Buy(1, {{kSku, 0, 1}});
  shop.Del(kSku);
  const size_t with_deletion = shop.book.MemoryBytes();
  shop.now += 30 * kDay - 1;
  shop.book.ExpireSome(shop.now, 1000);
  REQUIRE(shop.book.MemoryBytes() == with_deletion);
  REQUIRE_FALSE(shop.book.Empty());
  shop.now += 1;
  REQUIRE(shop.book.ExpireSome(shop.now, 1000) == 1);
  REQUIRE(shop.book.Empty());
  REQUIRE(test::SaveAll(shop.book)[1].size() == 1);  // no SKU is known any more
}

TEST_CASE("a reset without actions forgets the user") {
  Shop shop;
  shop.Set(kSku, 0, 10);
  shop.Buy(1, {{kSku, 0, 4}});
  REQUIRE(test::ResetOne(shop.book, kUser, QuotaActions(), shop.now));
  REQUIRE_FALSE(test::ResetOne(shop.book, kUser, QuotaActions(), shop.now));
  REQUIRE(shop.Left() == Lefts{{0, 10}});
  REQUIRE(shop.Kept() == 0);
  REQUIRE(shop.book.stats().users == 0);
  REQUIRE(shop.Buy(1, {{kSku, 0, 4}}, 0, false, true).applied);
}

TEST_CASE("a reset of actions starts these totals from 0 and leaves the others") {
  Shop shop;
  shop.Set(kSku, 0, 20);
  shop.Set(kSku, 7, 10);
  shop.Set(kSku, 8, 10);
  shop.Buy(1, {{kSku, 7, 4}, {kSku, 8, 3}, {kSku, 0, 2}});
  shop.Reset({7});
  REQUIRE(shop.Left() == Lefts{{0, 11}, {7, 10}, {8, 7}});
  shop.Reset({0});
  REQUIRE(shop.Left() == Lefts{{0, 20}, {7, 10}, {8, 7}});
  shop.Buy(2, {{kSku, 7, 1}});
  REQUIRE(shop.Left() == Lefts{{0, 19}, {7, 9}, {8, 7}});
  REQUIRE(shop.Return(1, {{kSku, 9}}) == std::vector<int32_t>{9});  // only 8 still counted it
  REQUIRE(shop.Left() == Lefts{{0, 19}, {7, 9}, {8, 10}});
}

TEST_CASE("what was bought before a limit counts for it as far as the retention reaches") {
  Shop shop;
  shop.Buy(1, {{kSku, 0, 1}});
  shop.now += 20 * kDay;
  shop.Buy(2, {{kSku, 0, 1}});
  shop.now += 10 * kDay;
  shop.Set(kSku, 0, 10, 365 * kDay);  // the first purchase was gone already
  REQUIRE(shop.Left() == Lefts{{0, 9}});
  shop.now += 300 * kDay;
  REQUIRE(shop.Left() == Lefts{{0, 9}});
  REQUIRE(shop.Kept() == 1);
}

TEST_CASE("the longest window of any limit holds purchases of every SKU") {
  Shop shop;
  shop.Set(7, 0, 1, 90 * kDay);
  shop.Buy(1, {{kSku, 0, 1}});
  shop.now += 60 * kDay;
  REQUIRE(shop.Kept() == 1);
  shop.Del(7);
  REQUIRE(shop.Kept() == 0);
  shop.Set(7, 0, 1, 90 * kDay);
  REQUIRE(shop.Kept() == 0);  // gone for good
}

TEST_CASE("a late order that only a longer window set since can count is kept") {
  Shop shop;
  shop.Buy(1, {{kSku, 0, 1}}, kNow - 29 * kDay);
  shop.now += 5 * kDay;  // the first is gone
  shop.Set(kSku, 0, 10, 90 * kDay);
  REQUIRE(shop.Buy(2, {{kSku, 0, 3}}, kNow - 40 * kDay).recorded);
  REQUIRE(shop.after == std::vector<Lefts>{{{0, 7}}});
  REQUIRE(shop.Kept() == 1);
}

TEST_CASE("limits that change places in one command do not shorten the retention in between") {
  Shop shop;
  shop.Set(7, 0, 1, 90 * kDay);
  shop.Buy(1, {{kSku, 0, 1}});
  shop.now += 60 * kDay;
  shop.book.SetLimits(std::vector<QuotaLimitSpec>{{7, 0, 1, kDay}, {kSku, 0, 10, 90 * kDay}},
                      shop.now);
  REQUIRE(shop.Left() == Lefts{{0, 9}});
}

TEST_CASE("late orders stand in their own place; too late ones are dropped with the same reply") {
  Shop shop;
  shop.Set(kSku, 0, 10, kHour);
  REQUIRE(shop.Buy(1, {{kSku, 0, 4}}, kNow - kHour + 1).recorded);
  REQUIRE(shop.after == std::vector<Lefts>{{{0, 6}}});
  REQUIRE(shop.Buy(2, {{kSku, 0, 4}}, kNow - kHour).recorded);  // a longer limit may count it
  REQUIRE(shop.after == std::vector<Lefts>{{{0, 6}}});
  const auto dropped = shop.Buy(3, {{kSku, 0, 4}}, kNow - 30 * kDay);
  REQUIRE(dropped.applied);
  REQUIRE_FALSE(dropped.recorded);
  REQUIRE(shop.after == std::vector<Lefts>{{{0, 6}}});
  REQUIRE(shop.Kept() == 2);
}

TEST_CASE("an order from the future counts as one of now") {
  Shop shop;
  shop.Set(kSku, 0, 10, kHour);
  shop.Buy(1, {{kSku, 0, 4}}, kNow + kDay);
  REQUIRE(shop.Left() == Lefts{{0, 6}});
  shop.now += kHour - 1;
  REQUIRE(shop.Left() == Lefts{{0, 6}});
  shop.now += 1;
  REQUIRE(shop.Left() == Lefts{{0, 10}});
}

TEST_CASE("what is left by user names the SKUs bought that have a limit for the actions") {
  Shop shop;
  shop.Set(1, 0, 10);
  shop.Set(2, 7, 10);
  shop.Set(4, 0, 10);
  shop.Buy(1, {{2, 7, 1}, {1, 0, 2}, {3, 0, 3}, {4, 0, 1}});
  shop.Return(1, {{4, 1}});
  using All = std::map<QuotaId, Lefts>;
  const auto all = [&](QuotaActions actions) {
    return test::LeftAllOf(shop.book, kUser, actions, shop.now);
  };
  REQUIRE(all({}) == All{{1, {{0, 8}}}, {2, {{7, 9}}}});
  REQUIRE(all(QuotaActions({7})) == All{{2, {{7, 9}}}});
  REQUIRE(test::LeftAllOf(shop.book, kUser + 1, {}, shop.now).empty());
}

TEST_CASE("LIMITS says what was set and when") {
  Shop shop;
  shop.Set(kSku, 7, 5, 1500);
  shop.now += 10;
  shop.Set(kSku, -2, 6, kDay);
  REQUIRE(test::LimitsOf(shop.book, kSku) ==
          std::vector<QuotaLimit>{{-2, 6, kDay, kNow + 10}, {7, 5, 1500, kNow}});
  REQUIRE(test::LimitsOf(shop.book, kSku, QuotaActions({7, 8})) ==
          std::vector<QuotaLimit>{{7, 5, 1500, kNow}});
  REQUIRE(shop.book.stats().limits == 2);
}

TEST_CASE("a user of whom nothing is left costs nothing") {
  Shop shop;
  shop.Buy(1, {{kSku, 0, 1}});
  REQUIRE(shop.book.stats().users == 1);
  shop.now += 30 * kDay - 1;
  REQUIRE(shop.book.ExpireSome(shop.now, 10) == 0);
  shop.now += 1;
  REQUIRE(shop.book.ExpireSome(shop.now, 10) == 1);
  REQUIRE(shop.book.stats().users == 0);
  REQUIRE(shop.book.Empty());
}

TEST_CASE("a shorter minimum retention drops at once, a longer one brings nothing back") {
  Shop shop;
  shop.Buy(1, {{kSku, 0, 1}});
  shop.now += kDay;
  shop.book.SetMinRetention(kHour, shop.now);
  REQUIRE(shop.Kept() == 0);
  shop.book.SetMinRetention(10 * kDay, shop.now);
  REQUIRE(shop.Kept() == 0);
  shop.Buy(2, {{kSku, 0, 1}});
  REQUIRE(shop.Kept() == 1);
}

}  // namespace
}  // namespace tally::quota_book_test
