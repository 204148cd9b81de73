// Short forms of what tests ask a quota book.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/quota/quota_book.h"

namespace tally::test {

using Lefts = std::vector<std::pair<QuotaId, int64_t>>;  // action, left

inline Lefts LeftsOf(const QuotaLefts& lefts, size_t i) {
  Lefts result;
  for (const QuotaLeft& left : lefts.of(i)) result.emplace_back(left.action, left.left);
  return result;
}

inline Lefts LeftOf(const QuotaBook& book, const QuotaId& user, const QuotaId& sku,
                    int64_t now_ms) {
  QuotaLefts lefts;
  book.Left(user, std::vector<QuotaId>{sku}, now_ms, now_ms, lefts);
  return LeftsOf(lefts, 0);
}

inline std::vector<QuotaPurchase> HistoryOf(const QuotaBook& book, const QuotaId& user,
                                            int64_t now_ms) {
  std::vector<QuotaPurchase> lines;
  book.History(user, now_ms, lines);
  return lines;
}

// Every run of a snapshot of the book.
inline std::vector<std::string> SaveAll(const QuotaBook& book, size_t max_bytes = 4096) {
  std::vector<std::string> runs;
  uint64_t cursor = 0;
  do {
    runs.emplace_back();
    cursor = book.Save(cursor, max_bytes, runs.back());
  } while (cursor != 0);
  return runs;
}

// The texts in the book's dictionary, as a snapshot has them.
inline std::set<std::string> TextsIn(const QuotaBook& book) {
  std::set<std::string> texts;
  for (const std::string& run : SaveAll(book)) {
    if (run.front() != 'T') continue;
    std::string_view in = std::string_view(run).substr(1);
    int64_t number = 0;
    std::string_view text;
    while (ReadSignedVarint(in, number) && ReadLengthPrefixed(in, text)) texts.emplace(text);
  }
  return texts;
}

}  // namespace tally::test
