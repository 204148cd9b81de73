// Quota books of any size, with integers for ids or with texts.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "core/quota/quota_book.h"
#include "random_seed.h"

namespace tally::test {

// The clock of these books.
inline constexpr int64_t kFilledAt = 1'760'000'000'000;

// What integers are called in a book: themselves, or texts that live as long as this.
class Names {
 public:
  virtual ~Names() = default;
  virtual QuotaId Of(const char* /*kind*/, int64_t number) { return number; }
};

class TextNames : public Names {
 public:
  QuotaId Of(const char* kind, int64_t number) override {
    if (number == 0) return 0;
    return QuotaId::Text(*texts_.insert(kind + std::to_string(number)).first);
  }

 private:
  std::set<std::string> texts_;
};

// `users` users with ten purchases each over the last 30 days, and limits of two actions on
// `limits` / 2 SKUs. Order ids rise with time, as a shop's do.
inline QuotaBook Filled(SeededRandom& random, int64_t users, int64_t limits, Names& names) {
  QuotaBook book(random.Next());
  for (int64_t n = 0; n < limits / 2; ++n) {
    const int64_t ago = random.Between(0, kDefaultQuotaRetentionMs);
    const QuotaId sku = names.Of("sku ", n);
    book.SetLimits(
        std::vector<QuotaLimitSpec>{{sku, 0, 30, kDefaultQuotaRetentionMs},
                                    {sku, names.Of("action ", 7), 20, kDefaultQuotaRetentionMs}},
        kFilledAt - ago);
  }
  QuotaLefts lefts;
  const int64_t skus = limits;
  for (int64_t round = 0; round < 10; ++round) {
    for (int64_t user = 0; user < users; ++user) {
      const int64_t ago = kDefaultQuotaRetentionMs / 10 * (10 - round) -
                          random.Between(1, kDefaultQuotaRetentionMs / 11);
      // At full size orders are numbered by the hundred million.
      const int64_t order = (kDefaultQuotaRetentionMs - ago) / 26;
      const std::vector<QuotaItem> items = {{names.Of("sku ", random.Between(0, skus)),
                                             names.Of("action ", random.OneIn(3) ? 7 : 0),
                                             1 + static_cast<int32_t>(round % 3)}};
      book.Buy({names.Of("user ", user * 97), names.Of("order ", order), items, kFilledAt - ago},
               kFilledAt - ago, lefts);
    }
  }
  return book;
}

inline QuotaBook Filled(SeededRandom& random, int64_t users, int64_t limits) {
  Names integers;
  return Filled(random, users, limits, integers);
}

// The users whom AddLargeUsers() adds.
inline constexpr int64_t kFirstLarge = 1'000'000;

// Gives `users` users `purchases` purchases each, in orders of three, over the last 30 days.
inline void AddLargeUsers(QuotaBook& book, SeededRandom& random, int64_t users, int64_t purchases,
                          Names& names) {
  QuotaLefts lefts;
  for (int64_t n = 0; n < users; ++n) {
    for (int64_t line = 0; line < purchases; line += 3) {
      const int64_t ago =
          kDefaultQuotaRetentionMs - 1 - kDefaultQuotaRetentionMs * line / purchases;
      const QuotaItem item = {names.Of("sku ", random.Between(1, 50)), names.Of("action ", 7), 2};
      book.Buy({names.Of("user ", kFirstLarge + n), names.Of("order ", line),
                std::vector<QuotaItem>(3, item), kFilledAt - ago},
               kFilledAt, lefts);
    }
  }
}

}  // namespace tally::test
