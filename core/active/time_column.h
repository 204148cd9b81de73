// An instant for each number 1, 2, 3 …, in chunks. A chunk uses as many bytes for a value as the
// spread of its values needs: 3, the least, up to 4.6 hours, and 4 up to 49 days.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

namespace tally {

class TimeColumn {
 public:
  uint32_t size() const { return size_; }
  // Gives the next number the value `at_ms`, in [0, kMaxInstantMs]. O(1).
  void Append(int64_t at_ms);
  int64_t Get(uint32_t number) const {
    const Chunk& chunk = chunks_[(number - 1) / kChunkValues];
    return chunk.base_ms + static_cast<int64_t>(chunk.OffsetAt((number - 1) % kChunkValues));
  }
  // O(1); rarely rewrites one chunk.
  void Set(uint32_t number, int64_t at_ms);

  size_t MemoryBytes() const;
  // Frees about `budget` values; returns true when nothing is left. The column may then only be
  // freed further or destroyed.
  bool FreeSome(size_t budget);

 private:
  static constexpr uint32_t kChunkValues = 256;

  struct Chunk {
    int64_t base_ms = 0;
    std::unique_ptr<uint8_t[]> offsets;
    uint32_t width = 0;

    Chunk() = default;
    Chunk(const Chunk& other);
    Chunk(Chunk&&) noexcept = default;
    Chunk& operator=(Chunk&&) noexcept = default;

    uint64_t OffsetAt(uint32_t place) const;
    void SetOffset(uint32_t place, uint64_t offset);
  };

  // Rewrites the chunk so that `at_ms` fits in beside the first `count` values.
  static void Widen(Chunk& chunk, uint32_t count, int64_t at_ms);

  std::deque<Chunk> chunks_;
  uint32_t size_ = 0;
};

}  // namespace tally
