// Users with so many purchases that a book keeps them in chunks.
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "core/quota/quota_book.h"
#include "quota_fixture.h"

namespace tally::quota_large_test {
namespace {

using test::HistoryOf;
using test::Lefts;

constexpr int64_t kNow = 1'760'000'000'000;
constexpr int64_t kRetention = kDefaultQuotaRetentionMs;
constexpr int64_t kUser = 7;

class Shop {
 public:
  void Record(int64_t order, int64_t sku, int32_t qty, int64_t ts_ms, int64_t now_ms) {
    const std::vector<QuotaItem> items = {{sku, 0, qty}};
    book_.Buy({kUser, order, items, ts_ms}, now_ms, lefts_);
  }
  // Makes the user large with purchases of the SKU 2.
  void RecordMany(int64_t ts_ms, int64_t now_ms, int64_t count = 300) {
    for (int64_t i = 0; i < count; ++i) Record(1000 + i, 2, 1, ts_ms, now_ms);
  }
  int32_t ReturnOnce(int64_t order, int64_t sku, int64_t ts_ms, int64_t now_ms) {
    std::vector<int32_t> credited;
    const std::vector<QuotaReturnItem> items = {{sku, 1}};
    book_.Return({kUser, order, items, ts_ms, true}, now_ms, credited);
    return credited[0];
  }
  Lefts LeftAt(int64_t sku, int64_t at_ms, int64_t now_ms) const {
    QuotaLefts lefts;
    book_.Left(kUser, std::vector<QuotaId>{sku}, at_ms, now_ms, lefts);
    return test::LeftsOf(lefts, 0);
  }
  QuotaBook& book() { return book_; }

 private:
  QuotaBook book_{1};
  QuotaLefts lefts_;
};

TEST_CASE("a return is known as long as a line of its order is kept, in whichever chunk") {
  Shop shop;
  constexpr int64_t kLater = kNow + 1000;
  shop.Record(1, 1, 5, kNow, kNow);
  shop.RecordMany(kLater, kLater);
  shop.Record(1, 1, 5, kLater, kLater);
  REQUIRE(shop.ReturnOnce(1, 1, kNow, kLater) == 1);
  REQUIRE(shop.ReturnOnce(1, 1, kNow, kLater) == 0);
  // The line that was credited leaves, and with it all that its chunk has of the order.
  const int64_t first_gone = kNow + kRetention;
  shop.book().ExpireSome(first_gone, 1'000'000);
  REQUIRE(HistoryOf(shop.book(), kUser, first_gone).front().order == 1000);
  REQUIRE(shop.ReturnOnce(1, 1, kNow, first_gone) == 0);
  REQUIRE(shop.ReturnOnce(1, 1, kNow + 1, first_gone) == 1);
  // All of the order leaves. If its id comes again, it is another order.
  const int64_t all_gone = kLater + kRetention;
  shop.RecordMany(all_gone, all_gone);
  shop.Record(1, 1, 5, all_gone, all_gone);
  REQUIRE(shop.ReturnOnce(1, 1, kNow, all_gone) == 1);
}

TEST_CASE("an order that comes again is another order, whether its lines are freed or not") {
  Shop shop;
  shop.Record(1, 1, 5, kNow, kNow);
  shop.RecordMany(kNow, kNow, 2000);
  REQUIRE(shop.ReturnOnce(1, 1, kNow, kNow) == 1);
  REQUIRE(shop.ReturnOnce(1500, 2, kNow, kNow) == 1);
  const int64_t gone = kNow + kRetention;
  for (const int64_t order : {1500, 1}) {
    shop.Record(order, 2, 5, gone, gone);
    REQUIRE(shop.book().stats().purchases > 1000);
    REQUIRE(shop.ReturnOnce(order, 2, kNow, gone) == 1);
    REQUIRE(shop.ReturnOnce(order, 2, kNow, gone) == 0);
  }
}

// Returns are kept in chunks, saved, copied, and forgotten with their order.
TEST_CASE("an order may be returned thousands of times") {
  Shop shop;
  constexpr int32_t kReturns = 5000;
  shop.Record(1, 1, kReturns + 10, kNow, kNow);
  for (int64_t i = 0; i < kReturns; ++i) REQUIRE(shop.ReturnOnce(1, 1, kNow + i, kNow) == 1);
  const auto runs = test::SaveAll(shop.book());
  QuotaBook copy = shop.book().Clone();
  QuotaBook loaded(2);
  for (const std::string& run : runs) REQUIRE(loaded.Load(run));
  const auto once = [](QuotaBook& book, int64_t ts_ms, int64_t now_ms) {
    std::vector<int32_t> credited;
    const std::vector<QuotaReturnItem> items = {{1, 1}};
    book.Return({kUser, 1, items, ts_ms, true}, now_ms, credited);
    return credited[0];
  };
  for (QuotaBook* book : {&shop.book(), &copy, &loaded}) {
    for (const int64_t i : {0, 31, 32, kReturns / 2, kReturns - 1}) {
      REQUIRE(once(*book, kNow + i, kNow) == 0);
    }
    REQUIRE(once(*book, kNow + kReturns, kNow) == 1);
    REQUIRE(HistoryOf(*book, kUser, kNow).front().qty == 9);
    REQUIRE(book->stats().purchases == 1);
    const int64_t gone = kNow + kRetention;
    for (int i = 0; i < 4; ++i) book->ExpireSome(gone, 1'000'000);
    REQUIRE(book->Empty());
    REQUIRE(book->stats().bytes < 4096);
  }
}

TEST_CASE("after a load the indexes of large users can be made before they are asked for") {
  Shop shop;
  shop.RecordMany(kNow, kNow, 3000);
  QuotaBook loaded(2);
  for (const std::string& run : test::SaveAll(shop.book())) REQUIRE(loaded.Load(run));
  const size_t without = loaded.MemoryBytes();
  while (loaded.PrepareNext()) {
  }
  const size_t with = loaded.MemoryBytes();
  REQUIRE(with > without + 3000);
  REQUIRE(test::LeftOf(loaded, kUser, 2, kNow) == test::LeftOf(shop.book(), kUser, 2, kNow));
  REQUIRE(loaded.MemoryBytes() == with);
  QuotaBook empty(3);
  REQUIRE_FALSE(empty.PrepareNext());
}

TEST_CASE("a chunk of lines has no returns beside them") {
  UserPurchases purchases;
  purchases.lines.push_back({1, 1, 0, kNow, kNow, 5, kNotReset});
  const auto run_of = [&] {
    std::string block;
    EncodePurchases(purchases, block);
    std::string run = "C";
    AppendSignedVarint(run, kUser);
    AppendVarint(run, 0);
    AppendLengthPrefixed(run, block);
    return run;
  };
  REQUIRE(QuotaBook(1).Load(run_of()));
  purchases.returns.push_back({1, 1, kNow});
  REQUIRE_FALSE(QuotaBook(1).Load(run_of()));
}

TEST_CASE("what is out of retention and not freed yet does not count at an earlier time either") {
  Shop shop;
  shop.book().SetLimits(std::vector<QuotaLimitSpec>{{2, 0, 1000, kRetention}}, kNow);
  shop.RecordMany(kNow, kNow, 600);
  REQUIRE(shop.LeftAt(2, kNow, kNow) == Lefts{{0, 400}});
  const int64_t later = kNow + kRetention;
  shop.Record(1, 2, 1, later, later);
  REQUIRE(shop.book().stats().purchases > 400);
  REQUIRE(shop.LeftAt(2, kNow + 1, later) == Lefts{{0, 999}});
  REQUIRE(HistoryOf(shop.book(), kUser, later).size() == 1);
}

TEST_CASE("windows that change count at once for a user of many purchases") {
  Shop shop;
  for (int64_t i = 0; i < 1000; ++i) {
    shop.Record(i, 1, 1, kNow + 1000 * i, kNow + 1000 * i);
  }
  const int64_t now_ms = kNow + 1'000'000;
  for (const int64_t seconds : {1, 10, 999, 1000, 1001, 2, 100'000}) {
    shop.book().SetLimits(std::vector<QuotaLimitSpec>{{1, 0, 5000, 1000 * seconds}}, now_ms);
    const int64_t counted = std::min<int64_t>(seconds - 1, 999) + (seconds > 1000 ? 1 : 0);
    REQUIRE(shop.LeftAt(1, now_ms, now_ms) == Lefts{{0, 5000 - counted}});
  }
}

}  // namespace
}  // namespace tally::quota_large_test
