// What a quota book answers: what is left of the limits, and what is used of them. Lives for one
// call.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <span>

#include "core/quota/book_data.h"
#include "core/quota/left_counters.h"

namespace tally {

class BookAnswers {
 public:
  explicit BookAnswers(BookData& book) : book_(book) {}

  // Hashes of the user and the SKUs that a call is going to look up.
  struct CallHashes {
    uint64_t user;
    absl::InlinedVector<uint64_t, 8> skus;
  };
  // Returns them, and prefetches what is there unless `prefetched`.
  CallHashes Approach(const QuotaId& user, const BookIds& skus, bool prefetched = false) const;
  // See QuotaBook::Prefetch.
  void Prefetch(std::span<const QuotaId> users, std::span<const QuotaId> skus) const;

  // Adds the limits of the SKUs, which are distinct, to the counters.
  void AddSkus(const BookIds& skus, const CallHashes& hashes, LeftCounters& counters) const;
  // See QuotaBook.
  void Left(const QuotaId& user, std::span<const QuotaId> skus, int64_t at_ms, int64_t now_ms,
            QuotaLefts& left, bool prefetched) const;
  bool LeftAll(std::span<const QuotaId> users, const QuotaActions& actions, int64_t now_ms,
               QuotaUserLefts& left) const;
  // Adds the SKUs to the counters, and counts what the user has bought of them, and when.
  void CountUses(const QuotaId& user, std::span<const QuotaId> skus, int64_t now_ms,
                 LeftCounters& counters) const;

 private:
  // Prefetches the users and SKUs with these hashes into the cache. Does each step of the lookup
  // for all of them before the next step, so that the cache misses overlap.
  void Fetch(std::span<const uint64_t> users, std::span<const uint64_t> skus) const;

  BookData& book_;
};

}  // namespace tally
