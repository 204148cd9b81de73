// A hash index of 32-bit handles that never rehashes more than about a thousand of them at once.
//
// Extendible hashing (see directory.h) over segments that are each a flat_hash_set of handles.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/bytes/heap_size.h"
#include "core/table/directory.h"

namespace tally {

// `Records` resolves handles and outlives the index. It offers
//   struct Key { uint64_t hash; … };                      what is looked for
//   uint64_t Hash(uint32_t handle) const;                 well mixed in all 64 bits
//   bool Matches(uint32_t handle, const Key& key) const;
template <class Records>
class HandleIndex {
 public:
  using Handle = uint32_t;
  using Key = typename Records::Key;

  explicit HandleIndex(const Records& records)
      : records_(records), directory_(new Segment(records_, 0)) {}
  ~HandleIndex() { DropSome(SIZE_MAX); }
  HandleIndex(const HandleIndex&) = delete;
  HandleIndex& operator=(const HandleIndex&) = delete;

  size_t size() const { return size_; }

  // The handle that matches `key`; 0 if there is none. O(1).
  Handle Find(const Key& key) const {
    const Segment& segment = *directory_.Find(key.hash);
    const auto found = segment.handles.find(key);
    return found == segment.handles.end() ? 0 : *found;
  }

  // Adds a handle that is not in the index; `hash` is the hash of its record. Amortised O(1). One
  // call takes at most O(kSplitSize), except when the directory doubles (8 bytes per entry).
  void Insert(Handle handle, uint64_t hash) {
    while (directory_.Find(hash)->handles.size() >= kSplitSize && Split(hash)) {
    }
    Segment& segment = *directory_.Find(hash);
    table_bytes_ -= TableBytes(segment);
    segment.handles.insert(handle);
    table_bytes_ += TableBytes(segment);
    ++size_;
  }

  // Removes a handle that is in the index and whose record still exists. As fast as Insert.
  void Erase(Handle handle) {
    const uint64_t hash = records_.Hash(handle);
    Segment& segment = *directory_.Find(hash);
    size_ -= segment.handles.erase(handle);
    if (segment.handles.size() <= kMergeSize && segment.depth > 0) Merge(hash);
  }

  // Calls visit(handle) for `count` handles in hash order, beginning at `cursor`; returns the
  // cursor to go on from, 0 at the end. Visits a few more if they have the same 48-bit hash prefix
  // as the last one. Cursors are below 2^48. A walk from 0 to 0 visits every handle that is in the
  // index during the whole walk exactly once, whatever is inserted and erased between the calls.
  // O(count + kSplitSize).
  template <class Visit>
  uint64_t Scan(uint64_t cursor, size_t count, Visit visit) const {
    std::vector<std::pair<uint64_t, Handle>> found;
    uint64_t next = cursor & kCursorMask;
    for (size_t wanted = std::max<size_t>(count, 1);;) {
      const Segment& segment = *directory_.Find(next << kCursorShift);
      found.clear();
      for (const Handle handle : segment.handles) {
        const uint64_t prefix = records_.Hash(handle) >> kCursorShift;
        if (prefix >= next) found.emplace_back(prefix, handle);
      }
      std::sort(found.begin(), found.end());
      size_t visited = 0;
      while (visited < found.size() &&
             (visited < wanted || found[visited].first == found[visited - 1].first)) {
        visit(found[visited++].second);
      }
      if (visited < found.size()) return found[visited].first;
      next = Segments::NextInterval(next << kCursorShift, segment.depth) >> kCursorShift;
      wanted -= std::min(wanted, visited);
      if (next == 0 || wanted == 0) return next;
    }
  }

  // Frees the memory of at least `count` handles, or of all; returns true when all are gone. Does
  // not read records. After the first call the index may only be dropped further or destroyed.
  bool DropSome(size_t count) {
    for (size_t dropped = 0; !directory_.empty() && dropped < count;) {
      const Segment* segment = directory_.TakeLast();
      dropped += segment->handles.size();
      size_ -= segment->handles.size();
      table_bytes_ -= TableBytes(*segment);
      --segments_;
      delete segment;
    }
    return directory_.empty();
  }

  size_t MemoryBytes() const {
    return table_bytes_ + segments_ * HeapBytes(sizeof(Segment)) +
           HeapBytes(directory_.capacity_bytes());
  }

 private:
  // A table of 1023 slots grows when it has more than 896 handles, or more than 799 after many
  // erasures; a segment splits before that.
  static constexpr size_t kSplitSize = 768;
  // Far below half of kSplitSize, so that a segment does not split and merge alternately.
  static constexpr size_t kMergeSize = kSplitSize / 8;
  static constexpr size_t kMergedSize = kSplitSize / 4;
  // The directory does not double while it has fewer handles per entry than this. Hashes that agree
  // in many bits then make their segment large instead of the directory.
  static constexpr size_t kMinHandlesPerEntry = 64;
  static constexpr unsigned kCursorBits = 48;
  static constexpr unsigned kCursorShift = 64 - kCursorBits;
  static constexpr uint64_t kCursorMask = (uint64_t{1} << kCursorBits) - 1;

  struct Hasher {
    using is_transparent = void;
    size_t operator()(Handle handle) const { return records->Hash(handle); }
    size_t operator()(const Key& key) const { return key.hash; }
    const Records* records;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(Handle a, Handle b) const { return a == b; }
    bool operator()(Handle handle, const Key& key) const { return records->Matches(handle, key); }
    const Records* records;
  };
  using Set = absl::flat_hash_set<Handle, Hasher, Equal>;

  struct Segment {
    Segment(const Records& records, unsigned depth_in)
        : handles(0, Hasher{&records}, Equal{&records}), depth(depth_in) {}
    Set handles;
    unsigned depth;  // hash bits that all its handles agree in
  };
  using Segments = Directory<Segment>;

  // What flat_hash_set allocates: a control byte and a handle per slot, and one more group of
  // control bytes.
  static size_t TableBytes(const Segment& segment) {
    const size_t capacity = segment.handles.capacity();
    if (capacity == 0) return 0;
    return HeapBytes((capacity + 16 + 3) / 4 * 4 + capacity * sizeof(Handle));
  }

  // Replaces the segment's handles by `handles`, in a table of the right size.
  void Refill(Segment& segment, const std::vector<Handle>& handles) {
    table_bytes_ -= TableBytes(segment);
    Set table(handles.size(), Hasher{&records_}, Equal{&records_});
    table.insert(handles.begin(), handles.end());
    segment.handles.swap(table);
    table_bytes_ += TableBytes(segment);
  }

  // Splits the segment of `hash`. Returns false if the directory would have to double and has too
  // few handles for that.
  bool Split(uint64_t hash) {
    Segment* low = directory_.Find(hash);
    if (low->depth == directory_.depth() && !Double()) return false;
    const unsigned depth = low->depth + 1;
    auto* high = new Segment(records_, depth);
    low->depth = depth;
    ++segments_;
    if (depth == directory_.depth()) deepest_ += 2;
    std::vector<Handle> zeros, ones;
    for (const Handle handle : low->handles) {
      (Segments::TopBits(records_.Hash(handle), depth) & 1 ? ones : zeros).push_back(handle);
    }
    Refill(*low, zeros);
    Refill(*high, ones);
    const uint64_t split_bit = uint64_t{1} << (64 - depth);
    directory_.Assign(hash | split_bit, depth, high);
    return true;
  }

  bool Double() {
    if (size_ < directory_.size() * kMinHandlesPerEntry) return false;
    directory_.Double();
    deepest_ = 0;
    return true;
  }

  // Merges the segment of `hash` with its sibling if both are nearly empty.
  void Merge(uint64_t hash) {
    Segment* segment = directory_.Find(hash);
    const uint64_t sibling_bit = uint64_t{1} << (64 - segment->depth);
    Segment* sibling = directory_.Find(hash ^ sibling_bit);
    if (sibling->depth != segment->depth) return;
    if (sibling->handles.size() + segment->handles.size() > kMergedSize) return;
    std::vector<Handle> handles(segment->handles.begin(), segment->handles.end());
    handles.insert(handles.end(), sibling->handles.begin(), sibling->handles.end());
    Refill(*segment, handles);
    if (segment->depth == directory_.depth()) deepest_ -= 2;
    --segment->depth;
    directory_.Assign(hash, segment->depth, segment);
    table_bytes_ -= TableBytes(*sibling);
    --segments_;
    delete sibling;
    while (deepest_ == 0 && directory_.depth() > 0) Halve();
  }

  void Halve() {
    directory_.Halve();
    const unsigned depth = directory_.depth();
    deepest_ = static_cast<size_t>(std::count_if(
        directory_.begin(), directory_.end(),
        [depth](const Segment* segment) { return segment->depth == depth && depth > 0; }));
  }

  const Records& records_;
  Segments directory_;
  size_t deepest_ = 0;  // segments of the directory's depth; 0 if that depth is 0
  size_t segments_ = 1;
  size_t size_ = 0;
  size_t table_bytes_ = 0;
};

}  // namespace tally
