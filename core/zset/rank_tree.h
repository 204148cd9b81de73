// The order of a large sorted set: a B+tree of record handles that knows how many elements are
// below each node. So it finds an element's rank, and the element at a rank, in O(log n).
//
// Inner nodes keep the score of each child's first element beside its handle. So a descent reads
// records only where scores are equal, and in the leaf.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>

#include "core/zset/member_store.h"
#include "core/zset/position.h"

namespace tally {

class RankTree {
 public:
  using Handle = MemberStore::Handle;

  // `members` resolves the handles and outlives the tree.
  explicit RankTree(const MemberStore& members) : members_(members) {}
  ~RankTree();
  RankTree(const RankTree&) = delete;
  RankTree& operator=(const RankTree&) = delete;

  size_t size() const { return size_; }

  // Adds a record at its place in the order. O(log n), without a search if that is the end.
  void Insert(Handle handle);

  // How many elements lie before `position`. O(log n).
  size_t RankOf(const Position& position) const;

  // Calls visit(handle) in order, or in reverse, until it returns false. O(log n + visited).
  void ForEach(RankRange range, bool reverse, absl::FunctionRef<bool(Handle)> visit) const;

  // Removes up to `max_count` elements from `rank` on, but none beyond the leaf that holds `rank`;
  // returns how many, at least 1. Requires rank < size() and max_count > 0 (asserted). Passes each
  // to `removed`, which may destroy its record. O(log n + removed).
  size_t EraseRun(size_t rank, size_t max_count, absl::FunctionRef<void(Handle)> removed);

  size_t MemoryBytes() const;

 private:
  struct Node;
  struct Leaf;
  struct Inner;
  struct Child;

  bool IsBefore(Handle handle, double score, const Position& position) const;
  uint32_t ChildBefore(const Inner& inner, const Position& position) const;
  uint32_t IndexInLeaf(const Leaf& leaf, const Position& position) const;
  Child Describe(Node* node, unsigned level) const;
  Handle Last() const;

  // Returns the new right-hand sibling if the node had to be split, else null. `position` is null
  // to append; `at_edge` says that no node of this level is further right.
  Node* InsertBelow(Node* node, unsigned level, const Position* position, bool at_edge,
                    Handle handle);
  Leaf* InsertInLeaf(Leaf* leaf, const Position* position, bool at_edge, Handle handle);
  Inner* AddChild(Inner* inner, uint32_t index, const Child& child, bool at_edge);

  size_t EraseBelow(Node* node, unsigned level, size_t rank, size_t max_count,
                    absl::FunctionRef<void(Handle)> removed);
  void FixUnderfull(Inner* inner, uint32_t index, unsigned child_level);

  bool Visit(const Node* node, unsigned level, RankRange range, bool reverse,
             absl::FunctionRef<bool(Handle)> visit) const;

  Leaf* NewLeaf();
  Inner* NewInner();
  void Delete(Node* node, unsigned level);
  void DeleteBelow(Node* node, unsigned level);

  const MemberStore& members_;
  Node* root_ = nullptr;
  unsigned root_level_ = 0;  // leaves are level 0
  size_t size_ = 0;
  size_t leaves_ = 0;
  size_t inners_ = 0;
};

}  // namespace tally
