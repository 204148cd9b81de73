// Byte strings back to back in one allocation: the small form of hashes and sets. The idea is
// Redis's listpack, without its backward links.
//
// A cell is varint(size), bytes. Operations take O(bytes held), except Append, At and Next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

namespace tally {

class PackedCells {
 public:
  // Where a cell begins; end() is after the last one. A change at a position makes the positions
  // after it invalid.
  using Position = uint32_t;
  static constexpr Position kNone = UINT32_MAX;
  // The most bytes of all cells; callers must not exceed it (asserted, but not by Assign).
  static constexpr size_t kMaxBytes = size_t{1} << 30;

  PackedCells() = default;
  ~PackedCells() { Clear(); }
  PackedCells(PackedCells&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  PackedCells& operator=(PackedCells&& other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  PackedCells Clone() const;

  // The number of cells.
  size_t size() const { return block_ == nullptr ? 0 : block_->cells; }
  // Bytes of all cells, with their lengths.
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

  // Looks at every `stride`-th cell, beginning with the first. Returns the position of the one that
  // equals `bytes`, kNone if there is none.
  Position Find(std::string_view bytes, size_t stride) const;
  // The position of cell number `index`, counted from 0; `index` is at most size().
  Position PositionOf(size_t index) const;

  // The bytes passed in must not lie in this object.
  void Append(std::string_view bytes);
  void Replace(Position position, std::string_view bytes);
  void Erase(Position position, size_t cells);
  void Clear();
  // Replaces all cells by these contents, in the same allocation if they fit. Returns false, and
  // then holds nothing, if they do not end with a whole cell.
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
  // Replaces the `old` bytes at `position` by room for `room` bytes, which the caller writes;
  // returns where they are.
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
