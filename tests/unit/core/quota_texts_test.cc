// Texts as ids of a quota book: what they cost, when they are forgotten, and that integers cost and
// mean what they did before there were texts.
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/quota/quota_book.h"
#include "core/quota/text_dictionary.h"
#include "quota_filled_book.h"
#include "quota_fixture.h"
#include "random_seed.h"

namespace tally::quota_texts_test {
namespace {

using test::HistoryOf;
using test::Lefts;
using test::TextsIn;

constexpr int64_t kNow = test::kFilledAt;
constexpr int64_t kDay = int64_t{24} * 3600 * 1000;
constexpr int64_t kMin = INT64_MIN;
constexpr int64_t kMax = INT64_MAX;

QuotaId T(std::string_view text) { return QuotaId::Text(text); }

std::string FromHex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

// Saved when all ids were integers, of the book that OfIntegers() makes.
const std::vector<std::string> kOldRuns = {
    FromHex("480280a0f6a7139cffe582b966b0ffe582b966ffffffffffffffffff019cffe582b9669cdfefdaa566"),
    FromHex("4c0e18bd001e1e0052f2064f02063c9caf8ef01bb8deba84bf03000f12b1feffffffffffffffff0105dc0b"
            "0052f206ffffffffffffffffff010cbd0effffffff07010052f206"),
    FromHex("55feffffffffffffffff011a015fffffffffffffffff006b2407480ffeffffffffffffffff01ffffffffff"
            "ffffffff011b0127feffffffffffffff02f841e61b480ffeffffffffffffffff01023e0358c800251f0778"
            "0e02f00e0884032fffffffffffffffff0e50d1ff7412e80ffeffffffffffffffff01050298d4702eff66c0"
            "02880e0218000ec427e61e")};

// A run has its records in any order.
std::map<int64_t, std::string> RecordsOf(std::string_view run) {
  std::map<int64_t, std::string> records;
  run.remove_prefix(1);
  int64_t id = 0;
  std::string_view block;
  while (ReadSignedVarint(run, id) && ReadLengthPrefixed(run, block)) records[id] = block;
  REQUIRE(run.empty());
  return records;
}

QuotaBook OfIntegers() {
  QuotaBook book(7);
  QuotaLefts left;
  book.SetLimits(std::vector<QuotaLimitSpec>{{7, 0, 30, 30 * kDay},
                                             {7, 1, 20, 45 * kDay},
                                             {-8, kMax, 5, 1500},
                                             {kMin, 7, 2147483647, kDay}},
                 kNow - 20 * kDay);
  const std::vector<QuotaItem> a = {{7, 1, 5}, {7, 0, 900}, {kMin, 7, 1}};
  book.Buy({1, 100, a, kNow - 3 * kDay}, kNow - 3 * kDay, left);
  const std::vector<QuotaItem> b = {{-8, kMax, 2}};
  book.Buy({1, -5, b, kNow - 10 * kDay}, kNow - 2 * kDay, left);
  book.Buy({kMax, kMin, b, kNow - kDay}, kNow - kDay, left);
  book.Buy({kMin, kMax, b, kNow - kDay + 1}, kNow - kDay + 1, left);
  book.DelLimits(std::vector<QuotaId>{7}, QuotaActions({1}), kNow - 100);
  book.SetLimits(std::vector<QuotaLimitSpec>{{7, 1, 6, 60 * kDay}}, kNow - 50);
  // Bought before the deletion, recorded after it.
  const std::vector<QuotaItem> c = {{7, 1, 4}};
  book.Buy({1, 101, c, kNow - 200}, kNow - 40, left);
  std::vector<int32_t> credited;
  const std::vector<QuotaReturnItem> r = {{7, 2}};
  book.Return({1, 100, r, kNow - 30}, kNow - 30, credited);
  test::ResetOne(book, 1, QuotaActions({kMax}), kNow - 20);
  return book;
}

TEST_CASE("a book of integers is saved in the bytes that it was when all ids were integers") {
  const auto runs = test::SaveAll(OfIntegers(), 1 << 20);
  REQUIRE(runs.size() == kOldRuns.size());
  REQUIRE(runs[0] == kOldRuns[0]);
  for (size_t i = 1; i < runs.size(); ++i) REQUIRE(RecordsOf(runs[i]) == RecordsOf(kOldRuns[i]));
}

TEST_CASE("a book saved when all ids were integers is read as it was meant") {
  QuotaBook book(3);
  for (const std::string& run : kOldRuns) REQUIRE(book.Load(run));
  const std::vector<QuotaPurchase> history = {
      {100, 7, 1, 3, 1759740800000},    {100, 7, 0, 900, 1759740800000},
      {100, kMin, 7, 1, 1759740800000}, {-5, -8, kMax, 2, 1759136000000},
      {101, 7, 1, 4, 1759999999800},
  };
  REQUIRE(HistoryOf(book, 1, kNow) == history);
  REQUIRE(HistoryOf(book, kMax, kNow) ==
          std::vector<QuotaPurchase>{{kMin, -8, kMax, 2, 1759913600000}});
  REQUIRE(HistoryOf(book, kMin, kNow) ==
          std::vector<QuotaPurchase>{{kMax, -8, kMax, 2, 1759913600001}});
  REQUIRE(test::LeftOf(book, 1, 7, kNow) == Lefts{{0, 0}, {1, 2}});
  REQUIRE(test::LeftOf(book, kMax, 7, kNow) == Lefts{{0, 30}, {1, 6}});
  REQUIRE(test::SaveAll(book, 1 << 20)[0] == kOldRuns[0]);
}

TEST_CASE("texts that look like a number are ids of their own") {
  QuotaBook book(1);
  QuotaLefts left;
  int32_t limit = 10;
  const std::vector<QuotaId> alike = {7, T("007"), T("7 "), T("+7"), T("")};
  for (const QuotaId& sku : alike) {
    book.SetLimits(std::vector<QuotaLimitSpec>{{sku, 0, limit++, kDay}, {sku, T("0 "), 5, kDay}},
                   kNow);
  }
  for (const QuotaId& id : alike) {
    const std::vector<QuotaItem> items = {{id, id, 2}};
    REQUIRE(book.Buy({id, id, items, kNow, true, true}, kNow, left).applied);
    REQUIRE_FALSE(book.Buy({id, id, items, kNow, true, true}, kNow, left).applied);
  }
  limit = 10;
  for (const QuotaId& sku : alike) {
    for (const QuotaId& user : alike) {
      const int64_t bought = user == sku ? 2 : 0;
      REQUIRE(test::LeftOf(book, user, sku, kNow) == Lefts{{0, limit - bought}, {T("0 "), 5}});
    }
    ++limit;
  }
  REQUIRE(HistoryOf(book, T("007"), kNow) ==
          std::vector<QuotaPurchase>{{T("007"), T("007"), T("007"), 2, kNow}});
  REQUIRE(TextsIn(book) == std::set<std::string>{"", "+7", "0 ", "007", "7 "});
}

TEST_CASE("a refused order leaves no text behind, and asking makes none") {
  QuotaBook book(1);
  book.SetLimits(std::vector<QuotaLimitSpec>{{1, 0, 1, kDay}}, kNow);
  const size_t bytes = book.MemoryBytes();
  QuotaLefts left;
  const std::vector<QuotaItem> items = {{T("a"), T("b"), 1}, {1, T("c"), 2}};
  REQUIRE(book.Buy({T("u"), T("o"), items, kNow, true}, kNow, left).item == 2);
  book.Left(T("u"), std::vector<QuotaId>{T("x"), T("y"), T("x")}, kNow, kNow, left);
  REQUIRE(left.size() == 3);
  REQUIRE(book.DelLimits(std::vector<QuotaId>{T("z")}, QuotaActions({T("a")}), kNow) == 0);
  REQUIRE(TextsIn(book).empty());
  REQUIRE(book.MemoryBytes() == bytes);
}

TEST_CASE("a text is kept as long as something uses it") {
  QuotaBook book(1);
  QuotaLefts left;
  std::vector<int32_t> credited;
  book.SetLimits(std::vector<QuotaLimitSpec>{{T("sku"), T("spring"), 9, kDay}}, kNow);
  const std::vector<QuotaItem> items = {{T("sku"), T("autumn"), 1}, {T("other"), T("spring"), 1}};
  book.Buy({T("user"), T("order"), items, kNow}, kNow, left);
  const std::vector<QuotaReturnItem> back = {{T("other"), 1}};
  REQUIRE(book.Return({T("user"), T("order"), back, kNow, true}, kNow, credited));
  REQUIRE_FALSE(book.Return({T("user"), T("order"), back, kNow, true}, kNow, credited));
  REQUIRE(TextsIn(book) == std::set<std::string>{"autumn", "other", "sku", "spring"});
  // A deletion is remembered, and what it is of, while there are purchases.
  REQUIRE(book.DelLimits(std::vector<QuotaId>{T("sku")}, QuotaActions({T("spring")}), kNow) == 1);
  REQUIRE(test::ResetOne(book, T("user"), QuotaActions({T("autumn")}), kNow));
  REQUIRE_FALSE(test::ResetOne(book, T("user"), QuotaActions({T("autumn")}), kNow));
  REQUIRE(TextsIn(book).size() == 4);

  SECTION("until the purchases are out of retention") {
    book.ExpireSome(kNow + 31 * kDay, 1000);
    book.ExpireSome(kNow + 31 * kDay, 1000);
    REQUIRE(book.Empty());
  }
  SECTION("until the user is forgotten") {
    REQUIRE(test::ResetOne(book, T("user"), QuotaActions(), kNow));
    REQUIRE(TextsIn(book) == std::set<std::string>{"sku", "spring"});
    book.ExpireSome(kNow + 31 * kDay, 1000);
  }
  REQUIRE(TextsIn(book).empty());
}

TEST_CASE("a book that is fed with ever new texts does not grow for ever") {
  QuotaBook book(1);
  QuotaLefts left;
  size_t most_before = 0;
  size_t most = 0;
  for (int round = 0; round < 40; ++round) {
    const int64_t now = kNow + round * 10 * kDay;
    for (int i = 0; i < 2000; ++i) {
      const std::string name = std::to_string(round) + " " + std::to_string(i);
      const std::vector<QuotaItem> items = {{T(name), T(name), 1}};
      book.Buy({T(name), T(name), items, now}, now, left);
      if (i % 50 == 0) {
        book.SetLimits(std::vector<QuotaLimitSpec>{{T(name), T(name), 1, kDay}}, now);
        book.DelLimits(std::vector<QuotaId>{T(name)}, QuotaActions(), now);
      }
    }
    while (book.ExpireSome(now, 100'000) > 0) continue;
    (round < 20 ? most_before : most) =
        std::max(round < 20 ? most_before : most, book.MemoryBytes());
  }
  INFO(most_before << " bytes, then " << most);
  REQUIRE(most < most_before * 11 / 10);
  REQUIRE(TextsIn(book).size() <= 3 * 2000 + 100);
}

TEST_CASE("texts cost their bytes once for a book, and once a user or an order") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  test::TextNames names;
  const QuotaBook with_texts = test::Filled(random, 5000, 3000, names);
  const QuotaBook with_integers = test::Filled(random, 5000, 3000);
  const double more = static_cast<double>(with_texts.MemoryBytes() - with_integers.MemoryBytes());
  // "sku 2999", "user 485000", "order 99692307" and what each costs besides: 40 for a text of the
  // dictionary, 3 for one in its record, 2 for the marks of a line.
  const double expected = 3000 * (8 + 40) + 5000 * (11 + 3) + 50'000 * (14 + 3 + 2);
  INFO(more / expected << " times what is expected");
  REQUIRE(more < 1.3 * expected);
}

TEST_CASE("a dictionary gives texts numbers and forgets what nothing uses") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  TextDictionary dictionary(random.Next());
  std::map<std::string, std::pair<int64_t, int64_t>> model;  // text -> number, uses
  const size_t empty = dictionary.MemoryBytes();
  for (int step = 0; step < 40'000; ++step) {
    const std::string text(random.Below(4), static_cast<char>('a' + random.Below(26)));
    const std::string name = random.OneIn(2) ? text : text + std::to_string(random.Below(3000));
    const auto known = model.find(name);
    if (known == model.end()) {
      REQUIRE(dictionary.Find(name) == 0);
      const int64_t number = dictionary.Add(name);
      dictionary.ChangeUses(number, 2);
      model[name] = {number, 2};
      continue;
    }
    auto& [number, uses] = known->second;
    REQUIRE(dictionary.Find(name) == number);
    REQUIRE(dictionary.TextOf(number) == name);
    const int64_t by = random.OneIn(4) ? 1 : -1;
    dictionary.ChangeUses(number, by);
    uses += by;
    if (uses == 0) {
      REQUIRE(dictionary.TextOf(number).empty());
      model.erase(known);
    }
  }
  TextDictionary clone = dictionary.Clone(random.Next());
  for (TextDictionary* each : {&dictionary, &clone}) {
    for (const auto& [text, entry] : model) {
      REQUIRE(each->Find(text) == entry.first);
      each->ChangeUses(entry.first, -entry.second);
    }
    REQUIRE(each->empty());
  }
  REQUIRE(dictionary.MemoryBytes() < 3 * empty + 100'000);
}

TEST_CASE("texts that share the bits of their hash are told apart") {
  TextDictionary dictionary(1);
  constexpr int kMany = 300'000;  // about ten pairs share 32 bits
  for (int i = 0; i < kMany; ++i) dictionary.ChangeUses(dictionary.Add(std::to_string(i)), 1);
  for (int i = 0; i < kMany; ++i) REQUIRE(dictionary.Find(std::to_string(i)) == i + 1);
  for (int i = 0; i < kMany; i += 2) dictionary.ChangeUses(i + 1, -1);
  for (int i = 0; i < kMany; ++i) {
    REQUIRE(dictionary.Find(std::to_string(i)) == (i % 2 == 0 ? 0 : i + 1));
  }
}

TEST_CASE("a dictionary is restored in any order") {
  TextDictionary dictionary(1);
  dictionary.ChangeUses(9, 1);
  REQUIRE(dictionary.TextOf(9).empty());
  REQUIRE(dictionary.Restore(9, "nine"));
  REQUIRE(dictionary.Restore(4, "four"));
  dictionary.ChangeUses(4, 1);
  REQUIRE_FALSE(dictionary.Restore(9, "ten"));
  REQUIRE(dictionary.Find("nine") == 9);
  REQUIRE(dictionary.Find("four") == 4);
  REQUIRE(dictionary.Add("ten") == 10);
}

TEST_CASE("runs that no book can have written are refused") {
  const auto loads = [](std::string_view run) { return QuotaBook(1).Load(run); };
  const std::string mark("\x80\0", 2);
  REQUIRE(loads("T"));
  REQUIRE(loads(std::string("T\2\1a", 4)));
  REQUIRE_FALSE(loads(std::string("T\0\1a", 4)));                      // the number 0
  REQUIRE_FALSE(loads(std::string("T\1\1a", 4)));                      // a number below it
  REQUIRE_FALSE(loads(std::string("T\2\1a\2\1b", 7)));                 // a number twice
  REQUIRE_FALSE(loads(std::string("T\2\0\2\0", 5)));                   // with the empty text
  REQUIRE_FALSE(loads(std::string("T\2\2a", 4)));                      // cut off
  REQUIRE_FALSE(loads("T\xfe\xff\xff\xff\xff\xff\xff\xff\xff\1\1a"));  // too high
  std::string too_long("T\2\x81\1", 4);
  REQUIRE_FALSE(loads(too_long.append(129, 'x')));
  const std::string limit("\x05\x0d\0\x1e\x1e\0", 6);  // of 30 in 30 days, and its length
  REQUIRE(loads("L\2" + limit));
  REQUIRE(loads("L" + mark + "\1\2" + limit));
  for (const std::string& number :
       {std::string(1, '\0'), std::string("\2\0", 2), std::string(), std::string(9, '\1'),
        std::string("\1"), std::string("\2\1\1\1\1\1\1\1")}) {
    INFO(number.size());
    const auto size = static_cast<char>(number.size());
    REQUIRE_FALSE(loads("L" + mark + size + number + limit));
  }
}

}  // namespace
}  // namespace tally::quota_texts_test
