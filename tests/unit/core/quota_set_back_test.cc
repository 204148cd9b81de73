// A quota book whose clock ran ahead for a moment and was set back.
#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "core/quota/quota_book.h"
#include "quota_fixture.h"

namespace tally::quota_set_back_test {
namespace {

using test::Lefts;

constexpr int64_t kNow = 1'760'000'000'000;
constexpr int64_t kDay = 86'400'000;
// Not so far that what is kept leaves.
constexpr int64_t kAhead = kNow + 10 * kDay;
constexpr int64_t kUser = 7;
constexpr int64_t kOther = 8;

QuotaBook::BuyResult Buy(QuotaBook& book, int64_t user, int64_t order, int32_t qty, int64_t now_ms,
                         bool if_left = true) {
  const std::vector<QuotaItem> items = {{1, 0, qty}};
  QuotaLefts left;
  return book.Buy(
      {.user = user, .order = order, .items = items, .ts_ms = now_ms, .if_left = if_left}, now_ms,
      left);
}

// Purchases of so many lines, some of them in time, the last one ahead.
QuotaBook BoughtAhead(int64_t lines) {
  QuotaBook book(1);
  book.SetLimits(std::vector<QuotaLimitSpec>{{1, 0, 1000, kDay}}, kNow);
  for (int64_t i = 0; i < lines; ++i) Buy(book, kUser, i, 1, kNow - kDay / 2);
  REQUIRE(Buy(book, kUser, lines, 1000, kAhead).recorded);
  REQUIRE(Buy(book, kOther, 1, 1000, kAhead).recorded);
  return book;
}

TEST_CASE("a purchase of a clock that ran ahead counts for a window from when it is set back") {
  const int64_t lines = GENERATE(0, 5, 300);
  QuotaBook book = BoughtAhead(lines);
  constexpr int64_t kLater = kNow + 1000;
  // Until somebody buys it is read as one of now.
  CHECK(test::LeftOf(book, kUser, 1, kLater) == Lefts{{0, 0}});
  CHECK(test::HistoryOf(book, kUser, kLater).back().ts_ms == kLater);

  const QuotaBook::BuyResult refused = Buy(book, kUser, 1'000'000, 1, kLater);
  CHECK_FALSE(refused.applied);
  CHECK_FALSE(refused.recorded);
  CHECK(refused.set_back);
  CHECK_FALSE(Buy(book, kUser, 1'000'001, 1, kLater + 1).set_back);
  const auto history = test::HistoryOf(book, kUser, kLater + 2);
  REQUIRE(history.size() == static_cast<size_t>(lines) + 1);
  CHECK(history.back().ts_ms == kLater);
  if (lines > 0) CHECK(history.front().ts_ms == kNow - kDay / 2);
  CHECK(test::LeftOf(book, kUser, 1, kLater + kDay - 1) == Lefts{{0, 0}});
  CHECK(test::LeftOf(book, kUser, 1, kLater + kDay) == Lefts{{0, 1000}});
  // Somebody else's is still ahead.
  CHECK(test::LeftOf(book, kOther, 1, kLater + kDay) == Lefts{{0, 0}});

  // The same after it is saved and loaded, also when the clock shows that instant at last.
  QuotaBook loaded(2);
  for (const std::string& run : test::SaveAll(book)) REQUIRE(loaded.Load(run));
  CHECK(Buy(loaded, kUser, 1'000'002, 1000, kLater + kDay).recorded);
  CHECK(test::HistoryOf(loaded, kUser, kLater + kDay) == [&] {
    Buy(book, kUser, 1'000'002, 1000, kLater + kDay);
    return test::HistoryOf(book, kUser, kLater + kDay);
  }());
  CHECK(test::LeftOf(loaded, kUser, 1, kAhead) == Lefts{{0, 1000}});
}

TEST_CASE("a purchase that is set back is not gone, though the retention grew meanwhile") {
  const int64_t lines = GENERATE(0, 5, 300);
  constexpr int64_t kFarAhead = kNow + 60 * kDay;
  constexpr int64_t kLater = kNow + 1000;
  QuotaBook book(1);
  book.SetLimits(std::vector<QuotaLimitSpec>{{1, 0, 1000, kDay}}, kNow);
  for (int64_t i = 0; i < lines; ++i) Buy(book, kUser, i, 1, kFarAhead - kDay / 2);
  REQUIRE(Buy(book, kUser, lines, static_cast<int32_t>(1000 - lines), kFarAhead).recorded);
  book.SetLimits(std::vector<QuotaLimitSpec>{{1, 7, 9, 40 * kDay}}, kFarAhead);
  CHECK(test::LeftOf(book, kUser, 1, kLater).front().second == 0);
  CHECK(Buy(book, kUser, 1'000'000, 1, kLater).set_back);
  CHECK(test::LeftOf(book, kUser, 1, kLater).front().second == 0);
  CHECK(test::HistoryOf(book, kUser, kLater).size() == static_cast<size_t>(lines) + 1);
}

TEST_CASE(
    "an order that is recorded sets back what is ahead, and keeps its place and its returns") {
  const int64_t lines = GENERATE(5, 300);
  QuotaBook book = BoughtAhead(lines);
  const QuotaBook::BuyResult recorded = Buy(book, kUser, 1'000'000, 1, kNow, false);
  CHECK(recorded.recorded);
  CHECK(recorded.set_back);
  const auto history = test::HistoryOf(book, kUser, kNow);
  REQUIRE(history.size() == static_cast<size_t>(lines) + 2);
  CHECK(history[static_cast<size_t>(lines)].order == lines);
  std::vector<int32_t> credited;
  const std::vector<QuotaReturnItem> items = {{1, 1000}};
  CHECK(book.Return({kUser, lines, items, kNow, true}, kNow, credited));
  CHECK(credited == std::vector<int32_t>{1000});
  CHECK(test::LeftOf(book, kUser, 1, kNow) == Lefts{{0, 1000 - lines - 1}});
}

TEST_CASE("a deleted limit forgets purchases that were made ahead, also when they are set back") {
  const int64_t lines = GENERATE(5, 300);
  QuotaBook book = BoughtAhead(lines);
  book.DelLimits(std::vector<QuotaId>{1}, {}, kNow);
  book.SetLimits(std::vector<QuotaLimitSpec>{{1, 0, 1000, kDay}}, kNow);
  CHECK(test::LeftOf(book, kUser, 1, kNow) == Lefts{{0, 1000}});
  CHECK(Buy(book, kUser, 1'000'000, 1000, kNow).recorded);
  CHECK(test::LeftOf(book, kUser, 1, kNow) == Lefts{{0, 0}});
  CHECK(test::LeftOf(book, kUser, 1, kNow + kDay) == Lefts{{0, 1000}});
}

}  // namespace
}  // namespace tally::quota_set_back_test
