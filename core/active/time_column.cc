#include "core/active/time_column.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/bytes/heap_size.h"

namespace tally {
namespace {

uint32_t BytesFor(uint64_t offset) {
  return std::max(1u, static_cast<uint32_t>(std::bit_width(offset) + 7) / 8);
}

}  // namespace

TimeColumn::Chunk::Chunk(const Chunk& other)
    : base_ms(other.base_ms),
      offsets(std::make_unique_for_overwrite<uint8_t[]>(size_t{kChunkValues} * other.width)),
      width(other.width) {
  std::memcpy(offsets.get(), other.offsets.get(), size_t{kChunkValues} * width);
}

uint64_t TimeColumn::Chunk::OffsetAt(uint32_t place) const {
  // Needs a little-endian machine, which all supported machines are.
  uint64_t offset = 0;
  std::memcpy(&offset, offsets.get() + size_t{place} * width, width);
  return offset;
}

void TimeColumn::Chunk::SetOffset(uint32_t place, uint64_t offset) {
  std::memcpy(offsets.get() + size_t{place} * width, &offset, width);
}

void TimeColumn::Widen(Chunk& chunk, uint32_t count, int64_t at_ms) {
  int64_t low_ms = at_ms;
  int64_t high_ms = at_ms;
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t value_ms = chunk.base_ms + static_cast<int64_t>(chunk.OffsetAt(i));
    low_ms = std::min(low_ms, value_ms);
    high_ms = std::max(high_ms, value_ms);
  }
  Chunk wider;
  wider.width = std::max(3u, BytesFor(static_cast<uint64_t>(high_ms - low_ms)));
  // Keeps an eighth of the range free below a new lowest value, so that values in descending order
  // rarely rewrite the chunk.
  const uint64_t range = (uint64_t{1} << (8 * wider.width)) - 1;
  const uint64_t spare = range - static_cast<uint64_t>(high_ms - low_ms);
  wider.base_ms =
      low_ms - static_cast<int64_t>(count > 0 && at_ms == low_ms ? std::min(spare, range / 8) : 0);
  wider.offsets = std::make_unique<uint8_t[]>(size_t{kChunkValues} * wider.width);
  for (uint32_t i = 0; i < count; ++i) {
    const int64_t value_ms = chunk.base_ms + static_cast<int64_t>(chunk.OffsetAt(i));
    wider.SetOffset(i, static_cast<uint64_t>(value_ms - wider.base_ms));
  }
  chunk = std::move(wider);
}

void TimeColumn::Append(int64_t at_ms) {
  if (size_ % kChunkValues == 0) {
    chunks_.emplace_back();
    Widen(chunks_.back(), 0, at_ms);
  }
  ++size_;
  Set(size_, at_ms);
}

void TimeColumn::Set(uint32_t number, int64_t at_ms) {
  const uint32_t index = (number - 1) / kChunkValues;
  Chunk& chunk = chunks_[index];
  if (at_ms < chunk.base_ms ||
      BytesFor(static_cast<uint64_t>(at_ms - chunk.base_ms)) > chunk.width) {
    const bool last = index == chunks_.size() - 1;
    // In the last chunk the count includes a value that is being appended. Its offset is still the
    // 0 that the chunk began with, which stands for the base.
    Widen(chunk, last ? (size_ - 1) % kChunkValues + 1 : kChunkValues, at_ms);
  }
  chunk.SetOffset((number - 1) % kChunkValues, static_cast<uint64_t>(at_ms - chunk.base_ms));
}

size_t TimeColumn::MemoryBytes() const {
  size_t bytes = chunks_.size() * sizeof(Chunk);
  for (const Chunk& chunk : chunks_) bytes += HeapBytes(size_t{kChunkValues} * chunk.width);
  return bytes;
}

bool TimeColumn::FreeSome(size_t budget) {
  for (size_t freed = 0; freed < budget && !chunks_.empty(); freed += kChunkValues) {
    chunks_.pop_back();
  }
  return chunks_.empty();
}

}  // namespace tally
