#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/quota/quota_book.h"
#include "quota_filled_book.h"
#include "quota_fixture.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::quota_storage_test {
namespace {

using test::Filled;
using test::HistoryOf;

constexpr int64_t kNow = test::kFilledAt;
constexpr int64_t kRetention = kDefaultQuotaRetentionMs;

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

// The first of a few SKUs of hundreds of limits.
constexpr int64_t kFirstParted = 1'000'000;

void AddLimits(QuotaBook& book, const QuotaId& sku, int64_t first, int64_t limits,
               test::Names& names) {
  std::vector<QuotaLimitSpec> specs;
  for (int64_t i = first; i < first + limits; ++i)
    specs.push_back({sku, names.Of("action ", i), static_cast<int32_t>(i), 1000 + i});
  book.SetLimits(specs, kNow);
}

// Changes limits of a SKU that has hundreds or few of them.
void ChangeParted(QuotaBook& book, const QuotaId& sku, test::SeededRandom& random,
                  test::Names& names) {
  AddLimits(book, sku, random.Between(0, 600), random.Between(1, random.OneIn(20) ? 300 : 3),
            names);
  std::vector<QuotaId> some;
  for (int64_t i = random.Between(1, 5); i > 0; --i)
    some.push_back(names.Of("action ", random.Between(0, 900)));
  const bool all = random.OneIn(50);
  book.DelLimits(std::vector<QuotaId>{sku}, all ? QuotaActions() : QuotaActions(some), kNow);
}

template <typename SkuOf>
void SameLimits(const QuotaBook& one, const QuotaBook& other, int64_t skus, SkuOf sku_of) {
  for (int64_t n = 0; n < skus; n += 1 + skus / 1000) {
    REQUIRE(test::LimitsOf(one, sku_of(n)) == test::LimitsOf(other, sku_of(n)));
  }
}

// Takes two snapshots of a book while users and limits come, change and go.
void SnapshotUnderChange(test::SeededRandom& random, test::Names& names) {
  constexpr int64_t kUsers = 4000;
  constexpr int64_t kSkus = 2000;  // with limits
  constexpr int64_t kLarge = 20;
  QuotaBook book = Filled(random, kUsers, 2 * kSkus, names);
  test::AddLargeUsers(book, random, kLarge, 600, names);
  const auto user = [&](int64_t n) { return names.Of("user ", n * 97); };
  const auto large = [&](int64_t n) { return names.Of("user ", test::kFirstLarge + n); };
  const auto sku = [&](int64_t n) { return names.Of("sku ", n); };
  const auto parted = [&](int64_t n) { return names.Of("sku ", kFirstParted + n); };
  for (int64_t n = 0; n < 5; ++n) AddLimits(book, parted(n), 0, 100 + 100 * n, names);
  for (int round = 0; round < 2; ++round) {  // a second snapshot finds the marks of the first
    const QuotaBook original = book.Clone();
    std::vector<std::string> runs;
    book.BeginSnapshot([&](std::string_view run) { runs.emplace_back(run); });
    QuotaLefts lefts;
    size_t slices = 0;
    do {
      const std::vector<QuotaItem> items = {
          {sku(random.Between(0, 3 * kSkus)), names.Of("action ", random.Between(1, 1 << 20)), 1}};
      const int64_t order = random.Between(0, 1 << 30);
      // Some users, SKUs and actions are new.
      book.Buy({user(random.Between(0, kUsers * 6 / 5)), names.Of("order ", order), items, kNow},
               kNow, lefts);
      test::ResetOne(book, user(random.Between(0, kUsers)), QuotaActions(), kNow);
      book.Buy({large(random.Between(0, kLarge)), names.Of("order ", order), items, kNow}, kNow,
               lefts);
      std::vector<int32_t> credited;
      const QuotaId bought = sku(random.Between(1, 50));
      book.Return({large(random.Between(0, kLarge)), names.Of("order ", 3 * random.Between(0, 200)),
                   std::vector<QuotaReturnItem>{{bought, 1}}, kNow},
                  kNow, credited);
      if (random.OneIn(10)) {
        const QuotaActions none({names.Of("action ", 7)});
        const QuotaActions some = random.OneIn(3) ? QuotaActions() : none;
        test::ResetOne(book, large(random.Between(0, kLarge)), some, kNow);
      }
      const int64_t n = random.Between(0, kSkus);
      book.DelLimits(std::vector<QuotaId>{sku(n)}, QuotaActions(), kNow);
      book.SetLimits(std::vector<QuotaLimitSpec>{{sku(n + 1), names.Of("action ", n), 5, 1000}},
                     kNow);
      ChangeParted(book, parted(random.Between(0, 5)), random, names);
      book.ExpireSome(kNow + kRetention / 2, 1);
      ++slices;
    } while (book.SaveSnapshot());
    REQUIRE(slices > 3);

    QuotaBook loaded(random.Next());
    std::shuffle(runs.begin(), runs.end(), std::mt19937_64(random.Next()));
    for (const std::string& run : runs) REQUIRE(loaded.Load(run));
    REQUIRE(loaded.stats().limits == original.stats().limits);
    REQUIRE(loaded.stats().users == original.stats().users);
    REQUIRE(loaded.stats().purchases == original.stats().purchases);
    for (int64_t n = 0; n < kUsers * 6 / 5; n += 17) {
      REQUIRE(HistoryOf(loaded, user(n), kNow) == HistoryOf(original, user(n), kNow));
    }
    for (int64_t n = 0; n <= kLarge; ++n) {
      REQUIRE(HistoryOf(loaded, large(n), kNow) == HistoryOf(original, large(n), kNow));
      for (int64_t bought = 1; bought <= 50; ++bought) {
        REQUIRE(test::LeftOf(loaded, large(n), sku(bought), kNow) ==
                test::LeftOf(original, large(n), sku(bought), kNow));
      }
    }
    SameLimits(loaded, original, kSkus + 2, sku);
    SameLimits(loaded, original, 6, parted);
    REQUIRE(test::TextsIn(loaded) == test::TextsIn(original));
  }
}

TEST_CASE("a snapshot is the book as it was when it began, whatever is changed during it") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  test::Names integers;
  SnapshotUnderChange(random, integers);
  test::TextNames texts;
  SnapshotUnderChange(random, texts);
}

TEST_CASE("a snapshot taken run by run is the book, whatever the size of a run") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  QuotaBook book = Filled(random, 1000, 2000);
  test::Names names;
  test::AddLargeUsers(book, random, 2, 10'000, names);
  book.DelLimits(std::vector<QuotaId>{1, 2, 3}, QuotaActions(), kNow);
  for (const size_t max_bytes : {size_t{1}, size_t{10'000}, size_t{1} << 30}) {
    auto runs = test::SaveAll(book, max_bytes);
    for (const std::string& run : runs) REQUIRE(run.size() < max_bytes + 100'000);
    // In any order.
    std::swap(runs.front(), runs.back());
    QuotaBook loaded(random.Next());
    for (const std::string& run : runs) REQUIRE(loaded.Load(run));
    REQUIRE(loaded.stats().limits == book.stats().limits);
    REQUIRE(loaded.stats().users == 1002);
    REQUIRE(loaded.stats().purchases == book.stats().purchases);
    for (int64_t user = 0; user < 1000; user += 20) {
      REQUIRE(HistoryOf(loaded, user * 97, kNow) == HistoryOf(book, user * 97, kNow));
    }
    for (const int64_t user : {test::kFirstLarge, test::kFirstLarge + 1}) {
      REQUIRE(HistoryOf(loaded, user, kNow) == HistoryOf(book, user, kNow));
    }
    // A large user who has become a small one is looked at in the next round.
    size_t freed = loaded.ExpireSome(kNow + kRetention, 1'000'000);
    freed += loaded.ExpireSome(kNow + kRetention, 1'000'000);
    REQUIRE(freed == book.stats().purchases);
  }
}

// A book of an older release has all limits of a SKU in one block.
TEST_CASE("a SKU of many limits that was saved in one block is read, and costs the same") {
  test::Names names;
  QuotaBook book(1);
  AddLimits(book, 7, 0, 1000, names);
  std::vector<LimitEntry> entries;
  for (const QuotaLimit& limit : test::LimitsOf(book, 7)) {
    LimitEntry& entry = entries.emplace_back();
    entry = {limit.action.number(), true, limit.limit, limit.window_ms, limit.set_at_ms, {}};
  }
  std::string block;
  EncodeLimits(entries, block);
  std::string run(1, 'L');
  AppendSignedVarint(run, 7);
  AppendLengthPrefixed(run, block);
  QuotaBook loaded(1);
  REQUIRE(loaded.Load(run));
  REQUIRE(test::LimitsOf(loaded, 7) == test::LimitsOf(book, 7));
  REQUIRE(loaded.MemoryBytes() < book.MemoryBytes() * 11 / 10);
  REQUIRE_FALSE(loaded.Clone().Load(run));
  // The parts of a SKU are of no other SKU's, and none comes twice.
  const std::vector<std::string> runs = test::SaveAll(loaded, 1 << 20);
  REQUIRE(std::count_if(runs.begin(), runs.end(), [](const auto& one) { return one[0] == 'M'; }) ==
          1);
  for (const std::string& one : runs) {
    if (one.front() == 'M') REQUIRE_FALSE(loaded.Clone().Load(one));
  }
  // What is left of it is in one record again.
  std::vector<QuotaId> most;
  for (int64_t i = 5; i < 1000; ++i) most.emplace_back(i);
  REQUIRE(loaded.DelLimits(std::vector<QuotaId>{7}, QuotaActions(most), kNow) == 995);
  REQUIRE(test::LimitsOf(loaded, 7).size() == 5);
  for (const std::string& one : test::SaveAll(loaded))
    REQUIRE((one.front() != 'M' || one.size() == 1));
  REQUIRE(loaded.DelLimits(std::vector<QuotaId>{7}, QuotaActions(), kNow) == 5);
  REQUIRE(loaded.Empty());
}

TEST_CASE("a clone is equal and separate") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  test::TextNames names;
  QuotaBook book = Filled(random, 2000, 100, names);
  QuotaBook copy = book.Clone();
  REQUIRE(copy.stats().purchases == book.stats().purchases);
  REQUIRE(HistoryOf(copy, names.Of("user ", 97), kNow) ==
          HistoryOf(book, names.Of("user ", 97), kNow));
  REQUIRE(copy.ExpireSome(kNow + kRetention, 1'000'000) == 20'000);
  REQUIRE(copy.stats().users == 0);
  REQUIRE(book.stats().users == 2000);
  REQUIRE(HistoryOf(book, names.Of("user ", 97), kNow).size() == 10);
}

// Asks for and changes what a book of Filled() holds.
void UseAll(QuotaBook& book, test::Names& names) {
  QuotaLefts lefts;
  std::vector<int32_t> credited;
  for (int64_t n = 0; n < 20; ++n) {
    const QuotaId user = names.Of("user ", n * 97);
    const QuotaId sku = names.Of("sku ", n);
    // The lines' own texts move with the book.
    std::vector<std::string> orders;
    for (const QuotaPurchase& line : HistoryOf(book, user, kNow)) {
      orders.emplace_back(line.order.is_text() ? line.order.text() : "");
    }
    for (const std::string& order : orders) {
      const std::vector<QuotaReturnItem> items = {{sku, 1}};
      book.Return({user, QuotaId::Text(order), items, kNow}, kNow, credited);
    }
    test::LeftAllOf(book, user, QuotaActions(), kNow);
    test::LimitsOf(book, sku);
    book.Uses(user, std::vector<QuotaId>{sku}, kNow, [](std::span<const QuotaUse>) {});
    const QuotaId large = names.Of("user ", test::kFirstLarge + n % 2);
    book.Left(large, std::vector<QuotaId>{sku}, kNow, kNow, lefts);
    book.Return({large, names.Of("order ", 3 * n), std::vector<QuotaReturnItem>{{sku, 1}}, kNow},
                kNow, credited);
    const std::vector<QuotaItem> bought = {{sku, names.Of("action ", n), 1}};
    book.Buy({large, n, bought, kNow + n}, kNow, lefts);
    if (n == 10) test::ResetOne(book, large, QuotaActions({names.Of("action ", 7)}), kNow);
    book.Buy({user, n, bought, kNow}, kNow, lefts);
    if (n % 3 == 0) test::ResetOne(book, user, QuotaActions(), kNow);
    if (n % 3 == 1) book.DelLimits(std::vector<QuotaId>{sku}, QuotaActions(), kNow);
    if (n % 5 != 0) continue;
    const QuotaId parted = names.Of("sku ", kFirstParted + n % 2);
    AddLimits(book, parted, n * 20, 9, names);
    const QuotaActions some({names.Of("action ", n), names.Of("action ", n * 17)});
    book.DelLimits(std::vector<QuotaId>{parted}, n == 15 ? QuotaActions() : some, kNow);
  }
}

TEST_CASE("damaged runs are refused or loaded, and never read past their end") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  test::TextNames names;
  QuotaBook book = Filled(random, 20, 20, names);
  test::AddLargeUsers(book, random, 2, 150, names);
  for (int64_t n = 0; n < 2; ++n)
    AddLimits(book, names.Of("sku ", kFirstParted + n), 0, 200, names);
  for (const std::string& run : test::SaveAll(book)) {
    for (uint64_t i = 0; i < test::Scaled(300); ++i) {
      std::string damaged = run.substr(0, random.OneIn(2) ? run.size() : random.Below(run.size()));
      if (!damaged.empty()) {
        damaged[random.Below(damaged.size())] ^= static_cast<char>(1 << random.Below(8));
      }
      QuotaBook loaded(1);
      if (!loaded.Load(damaged)) continue;
      // Whatever was taken for a book can be used as one, also if its texts are missing.
      UseAll(loaded, names);
      QuotaBook again(2);
      for (const std::string& saved : test::SaveAll(loaded)) REQUIRE(again.Load(saved));
      loaded.ExpireSome(kNow + 2 * kRetention, 1000);
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

// With the ids of a shop, each purchase in an order of its own, of any of many SKUs, in an action:
// it is in the sums twice.
TEST_CASE("a user who has bought often takes at most 64 bytes a purchase") {
  constexpr int64_t kPurchases = 30'000;
  test::SeededRandom random;
  INFO("seed " << random.seed());
  QuotaBook book(random.Next());
  QuotaLefts lefts;
  for (int64_t n = 0; n < kPurchases; ++n) {
    const std::vector<QuotaItem> items = {{100'000'000 + random.Between(0, 4'000'000), 1007, 1}};
    book.Buy({1, 5'000'000'000 + n, items, kNow + 1000 * n}, kNow + 1000 * n, lefts);
  }
  const auto bytes = static_cast<double>(book.MemoryBytes()) / kPurchases;
  INFO(bytes << " bytes a purchase");
  REQUIRE(bytes <= 64);
  QuotaBook packed = book.Clone();
  packed.PackLargeUsers();
  REQUIRE(HistoryOf(packed, 1, kNow) == HistoryOf(book, 1, kNow));
}

TEST_CASE("what a user who has bought often loses at once is freed in slices") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  test::Names names;
  QuotaBook book(random.Next());
  test::AddLargeUsers(book, random, 1, 30'000, names);
  QuotaLefts lefts;
  const std::vector<QuotaItem> items = {{1, 0, 1}};
  const int64_t later = kNow + kRetention;
  // A write does not free all of it, and nobody sees that.
  book.Buy({test::kFirstLarge, 1, items, later}, later, lefts);
  REQUIRE(book.stats().purchases > 29'000);
  REQUIRE(HistoryOf(book, test::kFirstLarge, later).size() == 1);
  size_t slices = 0;
  while (book.stats().purchases > 1) {
    REQUIRE(book.ExpireSome(later, 100) <= 200);
    REQUIRE(++slices < 10'000);
  }
  REQUIRE(slices > 100);
  book.ExpireSome(later, 10'000);
  REQUIRE(test::SaveAll(book).back().front() == 'U');  // it is stored as others are
}

}  // namespace
}  // namespace tally::quota_storage_test
