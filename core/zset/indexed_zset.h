// A large sorted set: records in a slab, an index of them by member, and their order by score.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "core/bytes/run_sink.h"
#include "core/table/handle_index.h"
#include "core/zset/member_store.h"
#include "core/zset/position.h"
#include "core/zset/rank_tree.h"
#include "core/zset/zset_snapshot.h"

namespace tally {

// The result of adding a member. kFull: the set's 32-bit handles are used up, which takes about
// 16 GiB of members; the set is unchanged.
enum class AddResult { kAdded, kUpdated, kUnchanged, kFull };

// Its parts refer to each other, so it cannot be moved.
class IndexedZSet {
 public:
  // `seed` is the seed of the members' hash.
  explicit IndexedZSet(uint64_t seed) : store_(seed), index_(store_), order_(store_) {}
  ~IndexedZSet();
  IndexedZSet(const IndexedZSet&) = delete;
  IndexedZSet& operator=(const IndexedZSet&) = delete;

  size_t size() const { return order_.size(); }

  // O(1).
  std::optional<double> Find(const MemberName& name) const;

  // Adds the member, or gives it a new score. O(log n).
  AddResult Set(double score, const MemberName& name);

  // False if the member is not in the set. O(log n).
  bool Erase(const MemberName& name);

  size_t RankOf(const Position& position) const { return order_.RankOf(position); }
  // Calls visit(member, score) until it returns false. O(log n + visited).
  void ForEach(RankRange range, bool reverse,
               absl::FunctionRef<bool(const ElementView&, double)> visit) const;
  // O(log n + range.size()).
  void EraseRange(RankRange range);

  // See HandleIndex::Scan.
  uint64_t Scan(uint64_t cursor, size_t count,
                absl::FunctionRef<void(const ElementView&, double)> visit) const;

  // Frees the memory of about `count` members; returns true when nothing is left. After the first
  // call the set may only be freed further or destroyed.
  bool FreeSome(size_t count);

  size_t MemoryBytes() const;

  // See ValueOperations::begin_snapshot.
  void BeginSnapshot(const RunSink& sink);
  bool SaveSnapshot();
  void EndSnapshot() { snapshot_ = nullptr; }

 private:
  using Handle = MemberStore::Handle;

  void SaveForSnapshot(Handle handle);

  MemberStore store_;
  HandleIndex<MemberStore> index_;
  RankTree order_;
  std::unique_ptr<ZSetSnapshot> snapshot_;
};

}  // namespace tally
