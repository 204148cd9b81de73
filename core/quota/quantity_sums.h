// Sums of the quantities that a user bought, by SKU, action and time: for a user with so many
// purchases that they cannot all be visited for each answer.
//
// Entries are in the order of (sku, action, time), packed in leaves of up to 64 entries; up to 256
// leaves are in a branch. Branches and leaves know the sums of their quantities. So every operation
// is O(leaf + leaves of a branch + branches); with a million entries this is well below a
// microsecond of looking and about one of packing. An entry takes 4 to 15 bytes.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/quota/quota_id.h"

namespace tally {

class QuantitySums {
 public:
  struct Key {
    BookId sku;
    BookId action;
    int64_t ts_ms = 0;
    friend constexpr auto operator<=>(const Key&, const Key&) = default;
  };

  struct Entry {
    Key key;
    int64_t qty = 0;
  };

  // Replaces all by the sums of these, none of which is negative. O(n log n).
  void Assign(std::vector<Entry> entries);
  // Adds to the quantity at the key. `qty` is not negative.
  void Add(const Key& key, int64_t qty);
  // Takes from the quantity at the key, which must be at least `qty` (asserted).
  void Subtract(const Key& key, int64_t qty);
  // Answers sums, as long as nothing changes. After the first one, those of neighbours in the order
  // of keys cost O(log leaf).
  class Reader {
   public:
    explicit Reader(const QuantitySums& sums) : sums_(sums) {}
    // The sum of the quantities of the SKU and action later than `after_ms`.
    int64_t SumAfter(BookId sku, BookId action, int64_t after_ms);

   private:
    // The sum of the quantities at the key and before it.
    int64_t SumThrough(const Key& key);
    void Open(const Key& key);

    const QuantitySums& sums_;
    std::vector<Entry> entries_;  // of the open leaf; quantities are sums of all to there
    int64_t before_ = 0;          // the sum of all before the leaf
    const Key* next_ = nullptr;   // the first key of the next leaf; null if there is none
  };

  int64_t SumAfter(BookId sku, BookId action, int64_t after_ms) const {
    return Reader(*this).SumAfter(sku, action, after_ms);
  }
  // When the first quantity of the SKU and action later than `after_ms` was bought; the latest
  // instant there is if there is none.
  int64_t FirstAfter(BookId sku, BookId action, int64_t after_ms) const;
  // Removes all entries of the SKU and action. O(1) amortised for each.
  void Clear(BookId sku, BookId action);

  bool empty() const { return branches_.empty(); }
  // Heap bytes. O(branches).
  size_t MemoryBytes() const;

 private:
  struct Leaf {
    Key first;
    int64_t sum = 0;
    std::string bytes;
  };
  struct Branch {
    std::vector<Leaf> leaves;  // never empty
    int64_t sum = 0;
    size_t bytes = 0;  // of the leaves
  };
  struct Position {
    size_t branch = 0;
    size_t leaf = 0;
  };

  // The leaf that holds the key, or would hold it. Must not be called when empty.
  Position Find(const Key& key) const;
  static std::vector<Entry> Unpack(const Leaf& leaf);
  static Leaf Pack(const Entry* begin, const Entry* end);
  // Puts leaves of these entries in place of the leaf. `grown_at` is the index of the entry that is
  // new, if there is one: a full leaf is split there, because the next entry is likely to follow.
  void Replace(Position position, const std::vector<Entry>& entries, size_t grown_at);
  void RemoveLeaf(Position position);
  void SplitBranch(size_t index, size_t grown_at);

  std::vector<Branch> branches_;
};

}  // namespace tally
