// The items of one node of a B+tree: how they are inserted and erased, and how a full node is split
// and a small one is merged or filled from its sibling. It knows nothing of the order of the items,
// nor of the tree above the node.
//
// A node type N has `uint32_t size`, `N::Item items[N::kCapacity]`, and kCapacity; an Item may be
// copied byte by byte. All functions cost O(kCapacity).
#pragma once

#include <algorithm>
#include <cstdint>

namespace tally {

// The fewest items of a node, a third of its capacity. Nodes at the right edge, and nodes without a
// sibling, may have fewer.
template <class N>
inline constexpr uint32_t kMinItems = N::kCapacity / 3;

// Two siblings are merged if the merged node has at most this many items, so that the next
// insertion does not split it again.
template <class N>
inline constexpr uint32_t kMaxMerged = N::kCapacity * 3 / 4;

// Inserts an item before the item `index`, or at the end for index == size. The node must not be
// full.
template <class N>
void InsertItem(N* node, uint32_t index, const typename N::Item& item) {
  std::move_backward(node->items + index, node->items + node->size, node->items + node->size + 1);
  node->items[index] = item;
  ++node->size;
}

// Erases `count` items from the item `index` on; index + count <= size.
template <class N>
void EraseItems(N* node, uint32_t index, uint32_t count) {
  std::move(node->items + index + count, node->items + node->size, node->items + index);
  node->size -= count;
}

// Moves items between neighbours until the left one has `left_size`, which must leave the right one
// no more than its capacity.
template <class N>
void Distribute(N* left, N* right, uint32_t left_size) {
  if (left_size < left->size) {
    const uint32_t moved = left->size - left_size;
    std::move_backward(right->items, right->items + right->size,
                       right->items + right->size + moved);
    std::copy(left->items + left_size, left->items + left->size, right->items);
    right->size += moved;
  } else {
    const uint32_t moved = left_size - left->size;
    std::copy(right->items, right->items + moved, left->items + left->size);
    EraseItems(right, 0, moved);
  }
  left->size = left_size;
}

// Inserts an item in the full node `left`, of which a part moves to `right`, its new, empty
// sibling. At the right edge, where ascending items arrive, `left` stays as full as it can be.
template <class N>
void SplitInsert(N* left, N* right, uint32_t index, bool at_edge, const typename N::Item& item) {
  uint32_t left_size = N::kCapacity / 2;
  if (at_edge) left_size = index == N::kCapacity ? N::kCapacity : N::kCapacity * 7 / 8;
  Distribute(left, right, left_size);
  if (index > left_size || left_size == N::kCapacity) {
    InsertItem(right, index - left_size, item);
  } else {
    InsertItem(left, index, item);
  }
}

// Merges two neighbours into the left one, or gives both the same number of items. Returns true if
// the right one is empty afterwards.
template <class N>
bool MergeOrEven(N* left, N* right) {
  const uint32_t total = left->size + right->size;
  Distribute(left, right, total <= kMaxMerged<N> ? total : total / 2);
  return right->size == 0;
}

}  // namespace tally
