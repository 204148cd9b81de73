// Ids with dense numbers: the first id is 1, the next 2, and a number is never given again.
//
// The bytes of the ids are in chunks, in the order of their numbers, and without lengths while all
// ids of a chunk have the same length. The index holds the number and eight bits of the hash of
// each id, in segments of about fifty ids. Segments are split one at a time (linear hashing: W.
// Litwin, "Linear hashing: a new tool for file and table addressing", VLDB 1980), so that no
// insertion moves more than one segment. An id takes about 6 bytes beside its own bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

namespace tally {

class IdBook {
 public:
  static constexpr size_t kMaxIdBytes = 65'535;
  static constexpr uint32_t kMaxNumber = UINT32_MAX - 1;

  explicit IdBook(uint64_t seed);

  // The id's number, 0 if it has none. O(1).
  uint32_t Find(std::string_view id) const;
  // Gives the next number to an id that has none. Asserts that the id has at most kMaxIdBytes and
  // that last_number() is below kMaxNumber. O(1).
  uint32_t Add(std::string_view id);
  // Uses up the next number without an id, as if its id had been forgotten.
  void SkipNumber();
  // Returns the id of a number that was given and is not forgotten. Valid until the next Add,
  // SkipNumber or Forget.
  std::string_view IdOf(uint32_t number) const;
  // The id has no number from now on, its bytes are wiped, and the number is not given again.
  void Forget(uint32_t number);

  // The highest number given.
  uint32_t last_number() const { return last_number_; }
  // Ids that have a number.
  uint32_t size() const { return size_; }

  size_t MemoryBytes() const;
  // Frees about `budget` ids; returns true when nothing is left. The book may then only be freed
  // further or destroyed.
  bool FreeSome(size_t budget);

 private:
  static constexpr uint32_t kChunkIds = 256;

  struct Chunk {
    std::vector<char> bytes;
    // Where each id ends; empty while all ids have `length` bytes.
    std::vector<uint32_t> ends;
    uint32_t length = 0;
    uint32_t count = 0;
  };

  // `capacity` numbers, then as many tags, in one allocation.
  struct Segment {
    std::unique_ptr<char[]> slots;
    uint16_t size = 0;
    uint16_t capacity = 0;

    Segment() = default;
    Segment(const Segment& other);
    Segment(Segment&&) noexcept = default;
    Segment& operator=(Segment&&) noexcept = default;

    uint8_t* tags() const { return reinterpret_cast<uint8_t*>(slots.get()) + size_t{4} * capacity; }
    uint32_t NumberAt(size_t i) const;
    void Append(uint32_t number, uint8_t tag);
    void RemoveAt(size_t i);
  };

  uint64_t HashOf(std::string_view id) const;
  static uint8_t TagOf(uint64_t hash) { return static_cast<uint8_t>(hash >> 56); }
  size_t SegmentOf(uint64_t hash) const;
  void SplitNext();
  void AppendBytes(std::string_view id);

  uint64_t seed_;
  std::deque<Chunk> chunks_;
  std::deque<Segment> segments_;
  uint32_t last_number_ = 0;
  uint32_t size_ = 0;
};

}  // namespace tally
