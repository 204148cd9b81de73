#include "core/zset/rank_tree.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"
#include "core/zset/tree_node.h"

namespace tally {

struct RankTree::Node {
  uint32_t size = 0;
};

// Half a kilobyte: a search costs no more than in smaller nodes, and moving the items costs little.
struct RankTree::Leaf : Node {
  using Item = Handle;
  static constexpr uint32_t kCapacity = 127;
  Item items[kCapacity];
};

struct RankTree::Child {
  Node* node;
  uint32_t count;  // elements below; cannot be more, as handles have 32 bits
  Handle first;
  double first_score;
};

struct RankTree::Inner : Node {
  using Item = Child;
  static constexpr uint32_t kCapacity = 42;
  Item items[kCapacity];
};

RankTree::~RankTree() {
  if (root_ != nullptr) DeleteBelow(root_, root_level_);
}

void RankTree::Insert(Handle handle) {
  if (root_ == nullptr) {
    root_ = NewLeaf();
    root_level_ = 0;
  }
  const double score = members_.Score(handle);
  const MemberText text = members_.Text(handle);
  const Position position = Position::Before(score, text.view());
  const Handle last = Last();
  const bool append = last == Slab::kNull || IsBefore(last, members_.Score(last), position);
  Node* right = InsertBelow(root_, root_level_, append ? nullptr : &position, true, handle);
  ++size_;
  if (right == nullptr) return;
  Inner* root = NewInner();
  root->items[0] = Describe(root_, root_level_);
  root->items[1] = Describe(right, root_level_);
  root->size = 2;
  root_ = root;
  ++root_level_;
}

size_t RankTree::RankOf(const Position& position) const {
  if (root_ == nullptr) return 0;
  size_t rank = 0;
  const Node* node = root_;
  for (unsigned level = root_level_; level > 0; --level) {
    const auto& inner = *static_cast<const Inner*>(node);
    const uint32_t index = ChildBefore(inner, position);
    for (uint32_t i = 0; i < index; ++i) rank += inner.items[i].count;
    node = inner.items[index].node;
  }
  return rank + IndexInLeaf(*static_cast<const Leaf*>(node), position);
}

void RankTree::ForEach(RankRange range, bool reverse, absl::FunctionRef<bool(Handle)> visit) const {
  Check(range.begin <= range.end && range.end <= size_, "rank range");
  if (!range.empty()) Visit(root_, root_level_, range, reverse, visit);
}

size_t RankTree::EraseRun(size_t rank, size_t max_count, absl::FunctionRef<void(Handle)> removed) {
  Check(rank < size_ && max_count > 0, "rank to erase");
  const size_t erased = EraseBelow(root_, root_level_, rank, max_count, removed);
  size_ -= erased;
  while (root_level_ > 0 && root_->size == 1) {
    Node* child = static_cast<Inner*>(root_)->items[0].node;
    Delete(root_, root_level_--);
    root_ = child;
  }
  if (size_ == 0) {
    Delete(root_, root_level_);
    root_ = nullptr;
  }
  return erased;
}

size_t RankTree::MemoryBytes() const {
  return leaves_ * HeapBytes(sizeof(Leaf)) + inners_ * HeapBytes(sizeof(Inner));
}

bool RankTree::IsBefore(Handle handle, double score, const Position& position) const {
  return Precedes(
      score, [&](std::string_view text) { return members_.Compare(handle, text); }, position);
}

// The child that `position` leads to: the last one whose first element lies before `position`, or
// child 0 if there is none.
uint32_t RankTree::ChildBefore(const Inner& inner, const Position& position) const {
  const Child* after = std::partition_point(
      inner.items, inner.items + inner.size,
      [&](const Child& child) { return IsBefore(child.first, child.first_score, position); });
  return after == inner.items ? 0 : static_cast<uint32_t>(after - inner.items) - 1;
}

uint32_t RankTree::IndexInLeaf(const Leaf& leaf, const Position& position) const {
  const Handle* found = std::partition_point(
      leaf.items, leaf.items + leaf.size,
      [&](Handle handle) { return IsBefore(handle, members_.Score(handle), position); });
  return static_cast<uint32_t>(found - leaf.items);
}

RankTree::Child RankTree::Describe(Node* node, unsigned level) const {
  if (level == 0) {
    const auto* leaf = static_cast<Leaf*>(node);
    return {node, leaf->size, leaf->items[0], members_.Score(leaf->items[0])};
  }
  const auto* inner = static_cast<Inner*>(node);
  uint32_t count = 0;
  for (uint32_t i = 0; i < inner->size; ++i) count += inner->items[i].count;
  return {node, count, inner->items[0].first, inner->items[0].first_score};
}

RankTree::Handle RankTree::Last() const {
  const Node* node = root_;
  for (unsigned level = root_level_; level > 0; --level) {
    node = static_cast<const Inner*>(node)->items[node->size - 1].node;
  }
  return node->size == 0 ? Slab::kNull : static_cast<const Leaf*>(node)->items[node->size - 1];
}

RankTree::Node* RankTree::InsertBelow(Node* node, unsigned level, const Position* position,
                                      bool at_edge, Handle handle) {
  if (level == 0) return InsertInLeaf(static_cast<Leaf*>(node), position, at_edge, handle);
  auto* inner = static_cast<Inner*>(node);
  const uint32_t index = position == nullptr ? inner->size - 1 : ChildBefore(*inner, *position);
  Child& child = inner->items[index];
  const bool child_at_edge = at_edge && index == inner->size - 1;
  Node* right = InsertBelow(child.node, level - 1, position, child_at_edge, handle);
  if (right == nullptr && index > 0) {
    ++child.count;
    return nullptr;
  }
  // The child was split, or it is child 0, whose first element may have changed.
  child = Describe(child.node, level - 1);
  if (right == nullptr) return nullptr;
  return AddChild(inner, index + 1, Describe(right, level - 1), at_edge);
}

RankTree::Leaf* RankTree::InsertInLeaf(Leaf* leaf, const Position* position, bool at_edge,
                                       Handle handle) {
  const uint32_t index = position == nullptr ? leaf->size : IndexInLeaf(*leaf, *position);
  if (leaf->size < Leaf::kCapacity) {
    InsertItem(leaf, index, handle);
    return nullptr;
  }
  Leaf* right = NewLeaf();
  SplitInsert(leaf, right, index, at_edge, handle);
  return right;
}

RankTree::Inner* RankTree::AddChild(Inner* inner, uint32_t index, const Child& child,
                                    bool at_edge) {
  if (inner->size < Inner::kCapacity) {
    InsertItem(inner, index, child);
    return nullptr;
  }
  Inner* right = NewInner();
  SplitInsert(inner, right, index, at_edge, child);
  return right;
}

size_t RankTree::EraseBelow(Node* node, unsigned level, size_t rank, size_t max_count,
                            absl::FunctionRef<void(Handle)> removed) {
  if (level == 0) {
    auto* leaf = static_cast<Leaf*>(node);
    const auto index = static_cast<uint32_t>(rank);
    const auto count = static_cast<uint32_t>(std::min<size_t>(max_count, leaf->size - index));
    for (uint32_t i = index; i < index + count; ++i) removed(leaf->items[i]);
    EraseItems(leaf, index, count);
    return count;
  }
  auto* inner = static_cast<Inner*>(node);
  uint32_t index = 0;
  while (rank >= inner->items[index].count) rank -= inner->items[index++].count;
  Child& child = inner->items[index];
  const size_t erased = EraseBelow(child.node, level - 1, rank, max_count, removed);
  if (erased == child.count) {
    Delete(child.node, level - 1);
    EraseItems(inner, index, 1);
    return erased;
  }
  child = Describe(child.node, level - 1);
  const uint32_t min_items = level == 1 ? kMinItems<Leaf> : kMinItems<Inner>;
  if (child.node->size < min_items) FixUnderfull(inner, index, level - 1);
  return erased;
}

void RankTree::FixUnderfull(Inner* inner, uint32_t index, unsigned child_level) {
  if (inner->size == 1) return;
  Child& left = inner->items[index == 0 ? 0 : index - 1];
  Child& right = *(&left + 1);
  const bool merged =
      child_level == 0
          ? MergeOrEven(static_cast<Leaf*>(left.node), static_cast<Leaf*>(right.node))
          : MergeOrEven(static_cast<Inner*>(left.node), static_cast<Inner*>(right.node));
  left = Describe(left.node, child_level);
  if (!merged) {
    right = Describe(right.node, child_level);
    return;
  }
  Delete(right.node, child_level);
  EraseItems(inner, static_cast<uint32_t>(&right - inner->items), 1);
}

bool RankTree::Visit(const Node* node, unsigned level, RankRange range, bool reverse,
                     absl::FunctionRef<bool(Handle)> visit) const {
  if (level == 0) {
    const Handle* items = static_cast<const Leaf*>(node)->items;
    for (size_t i = 0; i < range.size(); ++i) {
      if (!visit(items[reverse ? range.end - 1 - i : range.begin + i])) return false;
    }
    return true;
  }
  const auto* inner = static_cast<const Inner*>(node);
  // The rank at which the child begins, counted from the node's first element.
  size_t start = 0;
  if (reverse) {
    for (uint32_t i = 0; i < inner->size; ++i) start += inner->items[i].count;
  }
  for (uint32_t i = 0; i < inner->size; ++i) {
    const Child& child = inner->items[reverse ? inner->size - 1 - i : i];
    if (reverse) start -= child.count;
    const size_t begin = std::max(range.begin, start);
    const size_t end = std::min<size_t>(range.end, start + child.count);
    if (begin < end &&
        !Visit(child.node, level - 1, {begin - start, end - start}, reverse, visit)) {
      return false;
    }
    if (!reverse) start += child.count;
    if (reverse ? start <= range.begin : start >= range.end) break;
  }
  return true;
}

RankTree::Leaf* RankTree::NewLeaf() {
  ++leaves_;
  return new Leaf;
}

RankTree::Inner* RankTree::NewInner() {
  ++inners_;
  return new Inner;
}

void RankTree::Delete(Node* node, unsigned level) {
  if (level == 0) {
    --leaves_;
    delete static_cast<Leaf*>(node);
  } else {
    --inners_;
    delete static_cast<Inner*>(node);
  }
}

void RankTree::DeleteBelow(Node* node, unsigned level) {
  if (level > 0) {
    auto* inner = static_cast<Inner*>(node);
    for (uint32_t i = 0; i < inner->size; ++i) DeleteBelow(inner->items[i].node, level - 1);
  }
  Delete(node, level);
}

}  // namespace tally
