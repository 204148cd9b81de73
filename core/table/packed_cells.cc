#include "core/table/packed_cells.h"

#include "core/base/check.h"
#include "core/bytes/blocks.h"
#include "core/bytes/heap_size.h"
#include "core/bytes/varint.h"

namespace tally {

PackedCells PackedCells::Clone() const {
  PackedCells copy;
  if (end() == 0) return copy;
  copy.Reallocate(block_->used);
  std::memcpy(copy.data(), data(), block_->used);
  copy.block_->used = block_->used;
  copy.block_->cells = block_->cells;
  return copy;
}

PackedCells::Position PackedCells::Find(std::string_view bytes, size_t stride) const {
  const Position last = end();
  for (Position position = 0; position < last;) {
    const Cell cell = CellAt(position);
    if (std::string_view(cell.data, cell.size) == bytes) return position;
    position = static_cast<Position>(cell.data + cell.size - data());
    for (size_t skipped = 1; skipped < stride; ++skipped) position = Next(position);
  }
  return kNone;
}

PackedCells::Position PackedCells::PositionOf(size_t index) const {
  Position position = 0;
  while (index-- > 0) position = Next(position);
  return position;
}

void PackedCells::Append(std::string_view bytes) {
  char* out = Splice(end(), 0, VarintBytes(bytes.size()) + bytes.size());
  out = WriteVarint(out, bytes.size());
  bytes.copy(out, bytes.size());
  ++block_->cells;
}

void PackedCells::Replace(Position position, std::string_view bytes) {
  const size_t old = Next(position) - position;
  char* out = Splice(position, old, VarintBytes(bytes.size()) + bytes.size());
  out = WriteVarint(out, bytes.size());
  bytes.copy(out, bytes.size());
}

void PackedCells::Erase(Position position, size_t cells) {
  Position last = position;
  for (size_t i = 0; i < cells; ++i) last = Next(last);
  if (cells == size()) return Clear();
  block_->cells -= static_cast<uint32_t>(cells);
  Splice(position, last - position, 0);
}

void PackedCells::Clear() {
  FreeBlock(block_);
  block_ = nullptr;
}

bool PackedCells::Assign(std::string_view contents) {
  if (block_ == nullptr || contents.size() > block_->capacity) {
    Clear();
    Reallocate(contents.size());
  }
  block_->used = block_->cells = 0;
  uint32_t cells = 0;
  for (std::string_view rest = contents; !rest.empty(); ++cells) {
    std::string_view cell;
    if (!ReadLengthPrefixed(rest, cell)) return false;
  }
  contents.copy(data(), contents.size());
  block_->used = static_cast<uint32_t>(contents.size());
  block_->cells = cells;
  return true;
}

size_t PackedCells::MemoryBytes() const {
  return block_ == nullptr ? 0 : HeapBytes(sizeof(Block) + block_->capacity);
}

char* PackedCells::Splice(Position position, size_t old, size_t room) {
  const size_t used = end();
  const size_t after = used - old + room;
  Check(after <= kMaxBytes, "packed cells stay small");
  if (block_ == nullptr || after > block_->capacity) Reallocate(after);
  char* place = data() + position;
  std::memmove(place + room, place + old, used - position - old);
  block_->used = static_cast<uint32_t>(after);
  if (room < old && after < block_->capacity / 2) Reallocate(after);
  return data() + position;
}

void PackedCells::Reallocate(size_t bytes) {
  // Takes the allocator's whole size class. There are four classes per doubling, so that growth is
  // amortised.
  const size_t size = HeapBytes(sizeof(Block) + bytes);
  const bool fresh = block_ == nullptr;
  block_ = static_cast<Block*>(ResizeBlock(block_, size));
  if (fresh) *block_ = {};
  block_->capacity = static_cast<uint32_t>(size - sizeof(Block));
}

}  // namespace tally
