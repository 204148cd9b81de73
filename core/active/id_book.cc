#include "core/active/id_book.h"

#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/heap_size.h"

namespace tally {
namespace {

// The average number of ids in a segment. With more, the scan of tags is longer and finds more
// false matches; with fewer, the segments' heads take more memory.
constexpr size_t kSegmentIds = 48;
constexpr size_t kSlotBytes = sizeof(uint32_t) + 1;

}  // namespace

IdBook::IdBook(uint64_t seed) : seed_(seed) { segments_.emplace_back(); }

IdBook::Segment::Segment(const Segment& other) : size(other.size), capacity(other.capacity) {
  if (capacity == 0) return;
  slots = std::make_unique_for_overwrite<char[]>(capacity * kSlotBytes);
  std::memcpy(slots.get(), other.slots.get(), capacity * kSlotBytes);
}

uint32_t IdBook::Segment::NumberAt(size_t i) const {
  uint32_t number = 0;
  std::memcpy(&number, slots.get() + 4 * i, sizeof number);
  return number;
}

void IdBook::Segment::Append(uint32_t number, uint8_t tag) {
  if (size == capacity) {
    const size_t grown = HeapBytes((size_t{capacity} + 4) * kSlotBytes) / kSlotBytes;
    Check(grown <= UINT16_MAX, "a segment of the id index stays small");
    auto bytes = std::make_unique<char[]>(grown * kSlotBytes);
    if (size > 0) {
      std::memcpy(bytes.get(), slots.get(), size_t{4} * size);
      std::memcpy(bytes.get() + 4 * grown, tags(), size);
    }
    slots = std::move(bytes);
    capacity = static_cast<uint16_t>(grown);
  }
  std::memcpy(slots.get() + size_t{4} * size, &number, sizeof number);
  tags()[size] = tag;
  ++size;
}

void IdBook::Segment::RemoveAt(size_t i) {
  --size;
  std::memcpy(slots.get() + 4 * i, slots.get() + size_t{4} * size, sizeof(uint32_t));
  tags()[i] = tags()[size];
}

uint64_t IdBook::HashOf(std::string_view id) const {
  return XXH3_64bits_withSeed(id.data(), id.size(), seed_);
}

size_t IdBook::SegmentOf(uint64_t hash) const {
  const size_t round = std::bit_floor(segments_.size());
  const size_t index = hash & (2 * round - 1);
  return index < segments_.size() ? index : index - round;
}

uint32_t IdBook::Find(std::string_view id) const {
  const uint64_t hash = HashOf(id);
  const Segment& segment = segments_[SegmentOf(hash)];
  if (segment.size == 0) return 0;
  const uint8_t* const tags = segment.tags();
  const uint8_t* const end = tags + segment.size;
  for (const uint8_t* tag = tags; tag < end; ++tag) {
    tag =
        static_cast<const uint8_t*>(std::memchr(tag, TagOf(hash), static_cast<size_t>(end - tag)));
    if (tag == nullptr) return 0;
    const uint32_t number = segment.NumberAt(static_cast<size_t>(tag - tags));
    if (IdOf(number) == id) return number;
  }
  return 0;
}

void IdBook::AppendBytes(std::string_view id) {
  Check(id.size() <= kMaxIdBytes && last_number_ < kMaxNumber, "the caller limits ids");
  if (last_number_ % kChunkIds == 0) {
    // Gives back the room to grow of the chunk that is now full.
    if (!chunks_.empty()) chunks_.back().bytes.shrink_to_fit();
    chunks_.emplace_back();
  }
  Chunk& chunk = chunks_.back();
  if (chunk.count == 0) {
    chunk.length = static_cast<uint32_t>(id.size());
  } else if (chunk.ends.empty() && id.size() != chunk.length) {
    for (uint32_t i = 1; i <= chunk.count; ++i) chunk.ends.push_back(i * chunk.length);
  }
  chunk.bytes.insert(chunk.bytes.end(), id.begin(), id.end());
  if (!chunk.ends.empty()) chunk.ends.push_back(static_cast<uint32_t>(chunk.bytes.size()));
  ++chunk.count;
  ++last_number_;
}

uint32_t IdBook::Add(std::string_view id) {
  AppendBytes(id);
  ++size_;
  const uint64_t hash = HashOf(id);
  segments_[SegmentOf(hash)].Append(last_number_, TagOf(hash));
  if (size_ > kSegmentIds * segments_.size()) SplitNext();
  return last_number_;
}

void IdBook::SkipNumber() { AppendBytes({}); }

void IdBook::SplitNext() {
  const size_t added = segments_.size();
  const size_t from = added - std::bit_floor(added);
  segments_.emplace_back();
  Segment old = std::move(segments_[from]);
  segments_[from] = Segment();
  for (size_t i = 0; i < old.size; ++i) {
    const uint64_t hash = HashOf(IdOf(old.NumberAt(i)));
    segments_[SegmentOf(hash)].Append(old.NumberAt(i), TagOf(hash));
  }
}

std::string_view IdBook::IdOf(uint32_t number) const {
  const Chunk& chunk = chunks_[(number - 1) / kChunkIds];
  const uint32_t place = (number - 1) % kChunkIds;
  if (chunk.ends.empty()) return {chunk.bytes.data() + size_t{place} * chunk.length, chunk.length};
  const uint32_t begin = place == 0 ? 0 : chunk.ends[place - 1];
  return {chunk.bytes.data() + begin, chunk.ends[place] - begin};
}

void IdBook::Forget(uint32_t number) {
  const std::string_view id = IdOf(number);
  Segment& segment = segments_[SegmentOf(HashOf(id))];
  for (size_t i = 0; i < segment.size; ++i) {
    if (segment.NumberAt(i) != number) continue;
    segment.RemoveAt(i);
    --size_;
    std::memset(const_cast<char*>(id.data()), 0, id.size());
    return;
  }
  Check(false, "only an id that has a number is forgotten");
}

size_t IdBook::MemoryBytes() const {
  size_t bytes = chunks_.size() * sizeof(Chunk) + segments_.size() * sizeof(Segment);
  for (const Chunk& chunk : chunks_) {
    bytes +=
        HeapBytes(chunk.bytes.capacity()) + HeapBytes(chunk.ends.capacity() * sizeof(uint32_t));
  }
  for (const Segment& segment : segments_) bytes += HeapBytes(segment.capacity * kSlotBytes);
  return bytes;
}

bool IdBook::FreeSome(size_t budget) {
  for (size_t freed = 0; freed < budget && !chunks_.empty(); freed += kChunkIds) chunks_.pop_back();
  for (size_t freed = 0; freed < budget && !segments_.empty(); freed += kSegmentIds) {
    segments_.pop_back();
  }
  return chunks_.empty() && segments_.empty();
}

}  // namespace tally
