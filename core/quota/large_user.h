// A user with more purchases than one record can hold: decoding and encoding all of them for each
// write would take too long.
//
// The lines are in chunks, blocks of about 32 lines (purchase_block.h), each a record of its own.
// The chunks are numbered in the order of recording. A late purchase is in the last chunk too. So a
// write changes one chunk, and those of the order that it returns. The returns are in chunks of
// their own (return_marks.h), so that an order may be returned many times. What else an answer
// needs is in the indexes of LargeUser, which are not saved: they are made from the chunks after a
// load, or when first needed.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/btree_set.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/quota/purchase_block.h"
#include "core/quota/quantity_sums.h"
#include "core/quota/quota_types.h"
#include "core/quota/recording_order.h"
#include "core/quota/retention.h"
#include "core/quota/return_marks.h"
#include "core/table/record_table.h"

namespace tally {

struct LargeUser {
  // A user of more lines and returns than this becomes large, and one of fewer than kFewLines lines
  // is stored as others are again.
  static constexpr size_t kManyLines = 128;
  static constexpr size_t kFewLines = 33;
  // Lines of a chunk, if none of them has left; or returns.
  static constexpr size_t kChunkLines = 32;
  // The numbers of chunks of returns begin with this one.
  static constexpr uint32_t kMarks = uint32_t{1} << 31;
  // Without kMarks, higher numbers are not loaded, so that there are enough for all that is bought
  // and returned afterwards.
  static constexpr uint32_t kMostLoadedChunk = kMarks / 2;

  using HashIndex = absl::btree_set<std::pair<uint32_t, uint32_t>>;  // (hash, chunk)

  static uint32_t HashOf(const QuotaId& order);
  // The chunks of a hash, ascending.
  static std::vector<uint32_t> NumbersOf(const HashIndex& index, uint32_t hash);

  // Whether it is to be stored as others are.
  bool IsSmall() const { return lines + marks < kFewLines; }

  // Lines that are not freed yet, and returns.
  size_t lines = 0;
  size_t marks = 0;
  absl::btree_map<uint32_t, size_t> mark_chunks;          // number -> how many returns
  absl::btree_map<uint32_t, int64_t> chunks;              // number -> the earliest ts_ms
  absl::btree_set<std::pair<int64_t, uint32_t>> by_time;  // the same as (ts_ms, number)

  // Of chunks that hold lines that are held: when the first of these holds ends.
  absl::btree_map<uint32_t, int64_t> held_chunks;
  absl::btree_set<std::pair<int64_t, uint32_t>> by_hold_end;  // the same as (instant, number)

  // Sets when a chunk's earliest line was bought and its first hold ends, or that the chunk is
  // there no more.
  void SetChunk(uint32_t chunk, std::span<const PurchaseLine> lines);
  void RemoveChunk(uint32_t chunk);
  // Whether something in the chunk, or in any, is out of retention by its own ts_ms or hold.
  bool IsDue(uint32_t chunk, const Retention::Moment& at) const;
  bool IsDue(const Retention::Moment& at) const {
    return (!by_time.empty() && by_time.begin()->first <= at.horizon_ms) ||
           (!by_hold_end.empty() && by_hold_end.begin()->first <= at.now_ms);
  }
  // The chunk that is due first; IsDue() must be true.
  uint32_t DueChunk(const Retention::Moment& at) const {
    const bool by_hold = !by_hold_end.empty() && by_hold_end.begin()->first <= at.now_ms;
    return (by_hold ? by_hold_end : by_time).begin()->second;
  }

  // Purchases that were gone at this mark of Retention, or before, are freed.
  int64_t gone_through_ms = RecordingOrder::kNever;

  // The indexes are complete only if `indexed`.
  bool indexed = false;
  int64_t latest_ms = RecordingOrder::kNever;  // no line has a later ts_ms or held_at_ms
  HashIndex orders;                            // HashOf(order) of lines
  HashIndex marks_by_order;                    // HashOf(order) of returns
  HashIndex marks_by_hash;                     // HashOf(mark)
  bool HasMarks(uint32_t order_hash) const {
    const auto at = marks_by_order.lower_bound({order_hash, 0});
    return at != marks_by_order.end() && at->first == order_hash;
  }
  void IndexMark(const ReturnMark& mark, uint32_t chunk) {
    marks_by_order.insert({HashOf(mark.order), chunk});
    marks_by_hash.insert({tally::HashOf(mark), chunk});
  }
  // The quantities of lines that count in an action's total, by the line's action, and, by action
  // 0, of those that count in the total over all actions.
  QuantitySums sums;
  // The same of what is held, by when the hold ends instead of when it was bought.
  QuantitySums held_sums;
  // Nothing in these is held for longer from its ts_ms on; it matters only if they are not empty.
  int64_t longest_hold_ms = 0;
  // (sku, action) -> lines recorded up to then are not in the sums, because a limit was deleted.
  absl::btree_map<std::pair<BookId, BookId>, int64_t> cleared;

  int64_t ClearedThrough(BookId sku, BookId action) const;
  // Calls `call` with each action by which the line is in the sums.
  template <typename Call>
  void ForEachTotal(const PurchaseLine& line, Call call) const {
    const auto counts = [&](BookId action) {
      return line.recorded_ms > ClearedThrough(line.sku, action);
    };
    if (!(line.resets & kResetInTotal) && counts(kNoAction)) call(BookId(kNoAction));
    if (line.action == kNoAction || line.resets & kResetInAction) return;
    if (counts(line.action)) call(line.action);
  }
  // Must be called for each line.
  void NoteHold(const PurchaseLine& line);
  // Where a line is in its sums.
  static QuantitySums::Key SumKey(const PurchaseLine& line, BookId action) {
    return {line.sku, action, line.is_held() ? line.HeldUntil() : line.ts_ms};
  }
  // Adds a line to the sums, or takes it from them. What it is and `cleared` must be the same both
  // times.
  void AddToSums(const PurchaseLine& line);
  void TakeFromSums(const PurchaseLine& line);
  // Chunks that may hold lines of the order, ascending.
  std::vector<uint32_t> ChunksOf(const QuotaId& order) const {
    return NumbersOf(orders, HashOf(order));
  }

  size_t MemoryBytes() const;
  size_t accounted_bytes = 0;  // what LargeUsers last knew of them
};

// A chunk, decoded so that it can be changed and stored again.
struct OpenChunk {
  uint32_t number = 0;
  size_t stored_lines = 0;
  UserPurchases purchases;
  std::string block;  // what is stored, once it is encoded
};

// All large users of a book.
struct LargeUsers {
  explicit LargeUsers(uint64_t seed) : chunks(seed) {}

  // The key of a chunk: that of the user, and the number.
  static std::string ChunkKey(std::string_view user, uint32_t number);
  static std::string_view UserOf(std::string_view chunk_key);
  static uint32_t NumberOf(std::string_view chunk_key);

  LargeUser* Find(std::string_view user) const;
  // Returns the user, who may be new.
  LargeUser& Add(std::string_view user);
  void Remove(std::string_view user);
  // Decodes a chunk, which must be there; texts are views into its record.
  OpenChunk Read(std::string_view user, uint32_t number) const;
  // The same for a chunk of returns.
  std::vector<ReturnMark> ReadMarks(std::string_view user, uint32_t number) const;

  // Must be called after a change of the user.
  void Account(LargeUser& user);
  // O(1).
  size_t MemoryBytes() const;
  // Frees about `segments` segments, or indexes of users, and returns true when none is left.
  bool FreeSome(size_t segments);
  // Without the indexes.
  std::unique_ptr<LargeUsers> Clone(uint64_t seed) const;

  RecordTable chunks;
  // In an order, so that a sweep can continue where it stopped.
  std::map<std::string, std::unique_ptr<LargeUser>, std::less<>> users;
  size_t index_bytes = 0;
  std::string sweep_from;    // the key from which on users are swept next
  std::string prepare_from;  // the same of those whose indexes are made after a load
};

}  // namespace tally
