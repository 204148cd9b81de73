#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/quota/quota_book.h"
#include "quota_fixture.h"
#include "random_seed.h"

namespace tally {
namespace {

using test::HistoryOf;

constexpr int64_t kNow = 1'760'000'000'000;
constexpr int64_t kRetention = kDefaultQuotaRetentionMs;

// `users` users with ten purchases each over the last 30 days, and limits of two actions on
// `limits` / 2 SKUs. Order ids rise with time, as a shop's do.
QuotaBook Filled(test::SeededRandom& random, int64_t users, int64_t limits) {
  QuotaBook book(random.Next());
  for (int64_t sku = 0; sku < limits / 2; ++sku) {
    const int64_t ago = random.Between(0, kRetention);
    book.SetLimits(std::vector<QuotaLimitSpec>{{sku, 0, 30, kRetention}, {sku, 7, 20, kRetention}},
                   kNow - ago);
  }
  QuotaLefts lefts;
  const int64_t skus = limits;
  for (int64_t round = 0; round < 10; ++round) {
    for (int64_t user = 0; user < users; ++user) {
      const int64_t ago = kRetention / 10 * (10 - round) - random.Between(1, kRetention / 11);
      // At full size orders are numbered by the hundred million.
      const int64_t order = (kRetention - ago) / 26;
      const std::vector<QuotaItem> items = {
          {random.Between(0, skus), random.OneIn(3) ? 7 : 0, 1 + static_cast<int32_t>(round % 3)}};
      book.Buy({user * 97, order, items, kNow - ago}, kNow - ago, lefts);
    }
  }
  return book;
}

TEST_CASE("a small part of the full size costs that part of 3 GiB") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  const QuotaBook limits = Filled(random, 0, 12'000);
  const double limit_bytes = static_cast<double>(limits.MemoryBytes()) / 12'000;
  INFO(limit_bytes << " bytes a limit");
  REQUIRE(limit_bytes <= 24);

  const QuotaBook book = Filled(random, 20'000, 12'000);
  REQUIRE(book.stats().purchases == 200'000);
  const double bytes = static_cast<double>(book.MemoryBytes() - limits.MemoryBytes()) / 200'000;
  INFO(bytes << " bytes a purchase");
  REQUIRE(bytes <= 24);
}

TEST_CASE("a cut is the book as it was when the cut began, whatever is changed during it") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  QuotaBook book = Filled(random, 10'000, 8000);
  for (int round = 0; round < 2; ++round) {  // a second cut finds the marks of the first
    const QuotaBook original = book.Clone();
    std::vector<std::string> runs;
    book.BeginCut([&](std::string_view run) { runs.emplace_back(run); });
    QuotaLefts lefts;
    size_t slices = 0;
    do {
      const int64_t user = random.Between(0, 12'000) * 97;  // some of them are new
      const std::vector<QuotaItem> items = {{random.Between(0, 4000), 7, 1}};
      book.Buy({user, random.Between(0, 1 << 30), items, kNow}, kNow, lefts);
      book.Reset(random.Between(0, 10'000) * 97, QuotaActions(), kNow);
      const int64_t sku = random.Between(0, 4000);
      book.DelLimits(std::vector<int64_t>{sku}, QuotaActions(), kNow);
      book.SetLimits(std::vector<QuotaLimitSpec>{{sku + 1, 7, 5, kRetention}}, kNow);
      book.ExpireSome(kNow + kRetention / 2, 1);
      ++slices;
    } while (book.SaveCut());
    REQUIRE(slices > 3);

    QuotaBook loaded(random.Next());
    for (const std::string& run : runs) REQUIRE(loaded.Load(run));
    REQUIRE(loaded.stats().limits == original.stats().limits);
    REQUIRE(loaded.stats().users == original.stats().users);
    REQUIRE(loaded.stats().purchases == original.stats().purchases);
    for (int64_t user = 0; user < 12'000; user += 17) {
      REQUIRE(HistoryOf(loaded, user * 97, kNow) == HistoryOf(original, user * 97, kNow));
    }
    for (int64_t sku = 0; sku < 4002; sku += 5) {
      std::vector<QuotaLimit> expected, limits;
      original.Limits(sku, QuotaActions(), expected);
      loaded.Limits(sku, QuotaActions(), limits);
      REQUIRE(limits == expected);
    }
  }
}

TEST_CASE("a snapshot taken run by run is the book, whatever the size of a run") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  QuotaBook book = Filled(random, 3000, 4000);
  book.DelLimits(std::vector<int64_t>{1, 2, 3}, QuotaActions(), kNow);
  for (const size_t max_bytes : {size_t{1}, size_t{10'000}, size_t{1} << 30}) {
    auto runs = test::SaveAll(book, max_bytes);
    for (const std::string& run : runs) REQUIRE(run.size() < max_bytes + 100'000);
    // In any order.
    std::swap(runs.front(), runs.back());
    QuotaBook loaded(random.Next());
    for (const std::string& run : runs) REQUIRE(loaded.Load(run));
    REQUIRE(loaded.stats().limits == book.stats().limits);
    REQUIRE(loaded.stats().users == 3000);
    REQUIRE(loaded.stats().purchases == book.stats().purchases);
    for (int64_t user = 0; user < 3000; user += 50) {
      REQUIRE(HistoryOf(loaded, user * 97, kNow) == HistoryOf(book, user * 97, kNow));
    }
    REQUIRE(loaded.ExpireSome(kNow + kRetention, 1'000'000) == book.stats().purchases);
  }
}

TEST_CASE("a clone is equal and separate") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  QuotaBook book = Filled(random, 2000, 100);
  QuotaBook copy = book.Clone();
  REQUIRE(copy.stats().purchases == book.stats().purchases);
  REQUIRE(copy.ExpireSome(kNow + kRetention, 1'000'000) == 20'000);
  REQUIRE(copy.stats().users == 0);
  REQUIRE(book.stats().users == 2000);
  REQUIRE(HistoryOf(book, 97, kNow).size() == 10);
}

TEST_CASE("damaged runs are refused or loaded, and never read past their end") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  const QuotaBook book = Filled(random, 20, 20);
  for (const std::string& run : test::SaveAll(book)) {
    for (int i = 0; i < 400; ++i) {
      std::string damaged = run.substr(0, random.OneIn(2) ? run.size() : random.Below(run.size()));
      if (!damaged.empty()) {
        damaged[random.Below(damaged.size())] ^= static_cast<char>(1 << random.Below(8));
      }
      QuotaBook loaded(1);
      if (!loaded.Load(damaged)) continue;
      // Whatever was taken for a book can be used as one.
      HistoryOf(loaded, 97, kNow);
      loaded.ExpireSome(kNow, 1000);
    }
  }
  QuotaBook loaded(1);
  REQUIRE_FALSE(loaded.Load(""));
  REQUIRE_FALSE(loaded.Load("X"));
  const auto runs = test::SaveAll(book);
  REQUIRE(loaded.Load(runs.back()));
  REQUIRE_FALSE(loaded.Load(runs.back()));  // the same users again
}

TEST_CASE("expiry goes on in slices from where it stopped") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  QuotaBook book = Filled(random, 10'000, 20);
  const size_t all = book.stats().purchases;
  size_t freed = 0;
  size_t most = 0;
  size_t slices = 0;
  while (book.stats().users > 0) {
    const size_t now_freed = book.ExpireSome(kNow + kRetention, 1);
    freed += now_freed;
    most = std::max(most, now_freed);
    REQUIRE(++slices < 1000);
  }
  REQUIRE(freed == all);
  REQUIRE(most < all / 10);  // one segment at a time
}

TEST_CASE("a book is freed in slices") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  QuotaBook book = Filled(random, 10'000, 20'000);
  size_t slices = 1;
  while (!book.FreeSome(2)) ++slices;
  REQUIRE(slices > 5);
}

}  // namespace
}  // namespace tally
