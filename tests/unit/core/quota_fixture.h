// Short forms of what tests ask a quota book.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
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
  book.ForEachPurchase(user, now_ms, [&](const QuotaPurchase& line) { lines.push_back(line); });
  return lines;
}

// By SKU.
inline std::map<QuotaId, Lefts> LeftAllOf(const QuotaBook& book, const QuotaId& user,
                                          const QuotaActions& actions, int64_t now_ms) {
  QuotaUserLefts left;
  std::map<QuotaId, Lefts> all;
  if (!book.LeftAll(std::vector<QuotaId>{user}, actions, now_ms, left)) return all;
  for (size_t i = 0; i < left.lefts.size(); ++i) all[left.lefts.sku(i)] = LeftsOf(left.lefts, i);
  return all;
}

inline std::vector<QuotaLimit> LimitsOf(const QuotaBook& book, const QuotaId& sku,
                                        const QuotaActions& actions = {}) {
  std::vector<QuotaLimit> limits;
  book.Limits(std::vector<QuotaId>{sku}, actions, [&](std::span<const QuotaLimit> of_sku) {
    limits.assign(of_sku.begin(), of_sku.end());
  });
  return limits;
}

inline bool ResetOne(QuotaBook& book, const QuotaId& user, const QuotaActions& actions,
                     int64_t now_ms) {
  return book.Reset(std::vector<QuotaId>{user}, actions, now_ms) == 1;
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
