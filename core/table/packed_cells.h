// Byte strings back to back in one allocation: the small form of hashes and sets. The idea is
// Redis's listpack, without its links backwards.
//
// A cell is varint(size), bytes. Everything but Append, At and Next is O(bytes held).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace tally {

class PackedCells {
 public:
  // Where a cell begins; end() is after the last one. Changes make positions after it invalid.
  using Position = uint32_t;
  static constexpr Position kNone = UINT32_MAX;
  // What may be held; callers see to it.
  static constexpr size_t kMaxBytes = size_t{1} << 30;

  PackedCells() = default;
  ~PackedCells() { Clear(); }
  PackedCells(PackedCells&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  PackedCells& operator=(PackedCells&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  PackedCells Clone() const;

  // Cells.
  size_t size() const { return block_ == nullptr ? 0 : block_->cells; }
  // Bytes of all cells with their lengths.
  size_t bytes() const { return end(); }
  // All cells as they are, for Assign.
  std::string_view contents() const {
    return block_ == nullptr ? std::string_view() : std::string_view(data(), end());
  }
  Position end() const { return block_ == nullptr ? 0 : block_->used; }

  std::string_view At(Position position) const {
    const Cell cell = CellAt(position);
    return {cell.data, cell.size};
  }
  Position Next(Position position) const {
    const Cell cell = CellAt(position);
    return static_cast<Position>(cell.data + cell.size - data());
  }
  // The bytes of a cell, to be changed in place.
  char* MutableAt(Position position) { return const_cast<char*>(CellAt(position).data); }

  // The cell equal to `bytes` among every `stride`-th one from the first on; kNone if there is
  // none.
  Position Find(std::string_view bytes, size_t stride) const;
  // The position of the cell with that number, which is at most size().
  Position PositionOf(size_t index) const;

  // The bytes passed in must not lie inside.
  void Append(std::string_view bytes);
  void Replace(Position position, std::string_view bytes);
  void Erase(Position position, size_t cells);
  void Clear();
  // Holds these contents instead of its own, in the same allocation if they fit. False, and it
  // holds nothing, if they do not end with a cell.
  [[nodiscard]] bool Assign(std::string_view contents);

  size_t MemoryBytes() const;

 private:
  struct Block {
    uint32_t used;
    uint32_t capacity;
    uint32_t cells;
  };
  struct Cell {
    const char* data;
    size_t size;
  };

  const char* data() const { return reinterpret_cast<const char*>(block_ + 1); }
  char* data() { return reinterpret_cast<char*>(block_ + 1); }
  Cell CellAt(Position position) const;
  // Makes `room` bytes at `position` out of `old` ones, and gives back where they are.
  char* Splice(Position position, size_t old, size_t room);
  void Reallocate(size_t bytes);

  Block* block_ = nullptr;
};

inline PackedCells::Cell PackedCells::CellAt(Position position) const {
  const char* in = data() + position;
  auto byte = static_cast<uint8_t>(*in++);
  size_t size = byte & 0x7F;
  for (unsigned shift = 7; byte >= 0x80; shift += 7) {
    byte = static_cast<uint8_t>(*in++);
    size |= static_cast<size_t>(byte & 0x7F) << shift;
  }
  return {in, size};
}

}  // namespace tally
