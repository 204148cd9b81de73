// The directory of extendible hashing (Fagin, Nievergelt, Pippenger, Strong: "Extendible hashing",
// ACM TODS 1979). The top bits of a 64-bit hash choose one of 2^depth entries, which point to
// segments. A segment of depth d has all entries whose hashes have the same top d bits, so it is an
// interval of hashes. A walk in hash order therefore stays correct while the directory grows and
// shrinks. The index that uses the directory owns the segments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tally {

template <class Segment>
class Directory {
 public:
  Directory() = default;
  explicit Directory(Segment* only) : entries_(1, only) {}
  Directory(Directory&& other) noexcept
      : entries_(std::exchange(other.entries_, {})), depth_(std::exchange(other.depth_, 0)) {}
  Directory& operator=(Directory&& other) noexcept {
    entries_ = std::exchange(other.entries_, {});
    depth_ = std::exchange(other.depth_, 0);
    return *this;
  }

  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // How many top bits of a hash choose an entry.
  unsigned depth() const { return depth_; }
  Segment* operator[](size_t index) const { return entries_[index]; }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  static uint64_t TopBits(uint64_t hash, unsigned bits) {
    return bits == 0 ? 0 : hash >> (64 - bits);
  }
  size_t IndexOf(uint64_t hash) const { return TopBits(hash, depth_); }
  Segment* Find(uint64_t hash) const { return entries_[IndexOf(hash)]; }
  // The lowest hash after the interval of this depth that contains `hash`; 0 if that is the last
  // interval.
  static uint64_t NextInterval(uint64_t hash, unsigned depth) {
    return depth == 0 ? 0 : (TopBits(hash, depth) + 1) << (64 - depth);
  }

  // Makes the entries of the interval of this depth that contains `hash` point to the segment.
  // Requires depth <= depth(). O(entries of the interval).
  void Assign(uint64_t hash, unsigned depth, Segment* segment) {
    const size_t first = TopBits(hash, depth) << (depth_ - depth);
    std::fill_n(entries_.begin() + static_cast<ptrdiff_t>(first), size_t{1} << (depth_ - depth),
                segment);
  }
  // Raises depth() by one, so that segments may be one deeper. O(size()).
  void Double() {
    std::vector<Segment*> doubled(entries_.size() * 2);
    for (size_t i = 0; i < doubled.size(); ++i) doubled[i] = entries_[i / 2];
    entries_.swap(doubled);
    ++depth_;
  }
  // The inverse of Double. Requires that no segment has the depth depth(). O(size()).
  void Halve() {
    std::vector<Segment*> halved(entries_.size() / 2);
    for (size_t i = 0; i < halved.size(); ++i) halved[i] = entries_[2 * i];
    entries_.swap(halved);
    --depth_;
  }
  // Removes the last segment with its entries and returns it. Afterwards only TakeLast and empty()
  // may be called, until the directory is empty. Requires !empty().
  Segment* TakeLast() {
    Segment* const last = entries_.back();
    while (!entries_.empty() && entries_.back() == last) entries_.pop_back();
    return last;
  }

  // The bytes that the allocator was asked for.
  size_t capacity_bytes() const { return entries_.capacity() * sizeof(Segment*); }

 private:
  std::vector<Segment*> entries_;
  unsigned depth_ = 0;
};

}  // namespace tally
