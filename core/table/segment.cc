#include "core/table/segment.h"

#include <algorithm>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/check.h"
#include "core/bytes/blocks.h"
#include "core/bytes/varint.h"
#include "core/table/record_layout.h"

namespace tally {

using record_layout::EqualBytes;
using record_layout::GetLength;
using record_layout::RecordBytes;

namespace {

// 7/8 of 1,024 slots: what abseil fills before it would double.
constexpr size_t kMaxRecords = 896;
// A segment whose buffer would exceed this splits too, unless it has so few records that a split
// gains little.
constexpr size_t kMaxBytes = 128 * 1024;
constexpr size_t kFewRecords = 64;
// Above this every segment of two or more records splits: offsets have 32 bits.
constexpr size_t kHardBytes = size_t{1} << 30;

}  // namespace

RecordSegment::~RecordSegment() { FreeBuffer(); }

char* RecordSegment::NewBuffer(size_t capacity) {
  if (capacity >= kCountedFrom) return counted_block::New(capacity);
  return capacity > 0 ? static_cast<char*>(ResizeBlock(nullptr, capacity)) : nullptr;
}

void RecordSegment::FreeBuffer() {
  if (!counted()) return FreeBlock(buffer_);
  counted_block::RemoveOwner(buffer_);
}

void RecordSegment::MoveBuffer(size_t capacity) {
  const bool same_kind = counted() == (capacity >= kCountedFrom);
  if (!same_kind || shared()) {
    char* const moved = NewBuffer(capacity);
    if (used_ > 0) std::memcpy(moved, buffer_, used_);
    FreeBuffer();
    buffer_ = moved;
  } else {
    buffer_ = counted() ? counted_block::Resize(buffer_, capacity)
                        : static_cast<char*>(ResizeBlock(buffer_, capacity));
  }
  capacity_ = static_cast<uint32_t>(capacity);
}

bool RecordSegment::HasMark(uint64_t mark_epoch, std::string_view key) const {
  return marks(mark_epoch) > 0 &&
         std::find(marks_->keys.begin(), marks_->keys.end(), key) != marks_->keys.end();
}

void RecordSegment::AddMark(uint64_t mark_epoch, std::string_view key) {
  if (marks_ == nullptr || marks_->epoch != mark_epoch) {
    marks_ = std::make_unique<Marks>();
    marks_->epoch = mark_epoch;
  }
  marks_->keys.emplace_back(key);
}

uint64_t RecordSegment::Hash(std::string_view key) const {
  return XXH3_64bits_withSeed(key.data(), key.size(), seed_);
}

size_t RecordSegment::Hasher::operator()(uint32_t offset) const {
  return segment->Hash(segment->At(offset).key());
}

bool RecordSegment::Equal::operator()(uint32_t a, const Probe& b) const {
  uint32_t key_size = 0;
  uint32_t payload_size = 0;
  const char* in = GetLength(segment->buffer_ + a, &key_size);
  if (key_size != b.key.size()) return false;
  return EqualBytes(GetLength(in, &payload_size), b.key.data(), b.key.size());
}

bool RecordSegment::Equal::operator()(uint32_t a, const Collect& b) const {
  // In a debug build abseil compares more often than once.
  std::vector<uint32_t>& found = *b.offsets;
  const bool is_new = std::find(found.begin(), found.end(), a) == found.end();
  if (is_new && Hasher{segment}(a) == b.hash) found.push_back(a);
  return false;
}

RecordSegment::Record RecordSegment::At(uint32_t offset, uint64_t hash) const {
  Record record;
  uint32_t key_size = 0;
  uint32_t payload_size = 0;
  const char* in = GetLength(buffer_ + offset, &key_size);
  in = GetLength(in, &payload_size);
  record.segment_ = const_cast<RecordSegment*>(this);
  record.key_ = const_cast<char*>(in);
  record.key_size_ = key_size;
  record.payload_size_ = payload_size;
  record.offset_ = offset;
  record.hash_ = hash;
  return record;
}

RecordSegment::Record RecordSegment::Find(std::string_view key, uint64_t hash) const {
  const auto it = offsets_.find(Probe{key, hash});
  return it == offsets_.end() ? Record() : At(*it, hash);
}

std::vector<uint32_t> RecordSegment::WithHash(uint64_t hash) const {
  std::vector<uint32_t> found;
  static_cast<void>(offsets_.find(Collect{hash, &found}));
  return found;
}

uint32_t RecordSegment::Append(std::string_view key, size_t payload_size) {
  MakeRoom(RecordBytes(key.size(), payload_size));
  const uint32_t offset = used_;
  char* out = WriteVarint(buffer_ + used_, key.size());
  out = WriteVarint(out, payload_size);
  std::memcpy(out, key.data(), key.size());
  used_ = static_cast<uint32_t>(out - buffer_ + key.size() + payload_size);
  return offset;
}

uint32_t RecordSegment::Add(std::string_view key, uint64_t hash, size_t payload_size) {
  if (expected_ != 0) [[unlikely]]
    MakeRoomForExpected(RecordBytes(key.size(), payload_size));
  const uint32_t offset = Append(key, payload_size);
  offsets_.lazy_emplace(HashedOffset{offset, hash},
                        [&](const auto& construct) { construct(offset); });
  return offset;
}

// The rest of a record that becomes shorter stays behind it, dead, as records are found by their
// offsets only.
bool RecordSegment::ResizeInPlace(const Record& record, size_t payload_size) {
  if (VarintBytes(record.payload_size_) != VarintBytes(payload_size) || shared()) return false;
  const size_t end = record.offset_ + RecordBytes(record.key_size_, record.payload_size_);
  const size_t new_end = record.offset_ + RecordBytes(record.key_size_, payload_size);
  if (end == used_ && new_end <= capacity_) {
    used_ = static_cast<uint32_t>(new_end);
  } else if (new_end <= end) {
    dead_ += static_cast<uint32_t>(end - new_end);
  } else {
    return false;
  }
  WriteVarint(record.key_ - VarintBytes(payload_size), payload_size);
  return true;
}

RecordSegment::Record RecordSegment::Resize(const Record& record, size_t payload_size) {
  if (ResizeInPlace(record, payload_size)) return At(record.offset_, record.hash_);
  return ResizeElsewhere(record, payload_size);
}

RecordSegment::Record RecordSegment::ResizeElsewhere(const Record& record, size_t payload_size) {
  const size_t new_size = RecordBytes(record.key_size_, payload_size);
  if (used_ + new_size > capacity_) return ResizeWithMove(record, payload_size);
  const auto slot = offsets_.find(HashedOffset{record.offset_, record.hash_});
  Check(slot != offsets_.end(), "a resized record is in its segment");
  MarkDead(record);
  const uint32_t offset = Append(record.key(), payload_size);
  std::memcpy(At(offset).data(), record.data(), std::min<size_t>(record.size(), payload_size));
  // The slot's hash depends on the key only, so the offset may be changed in place.
  const_cast<uint32_t&>(*slot) = offset;
  return At(offset, record.hash_);
}

// For a new size that does not fit in the buffer: the buffer moves, so the record is copied first.
RecordSegment::Record RecordSegment::ResizeWithMove(const Record& record, size_t payload_size) {
  const std::string key(record.key());
  const std::string kept(record.data(), std::min<size_t>(record.size(), payload_size));
  const HashedOffset location{record.offset_, record.hash_};
  MarkDead(record);
  offsets_.erase(offsets_.find(location));
  const Record resized = At(Add(key, location.hash, payload_size), location.hash);
  std::memcpy(resized.data(), kept.data(), kept.size());
  return resized;
}

void RecordSegment::Erase(const Record& record) {
  const auto it = offsets_.find(HashedOffset{record.offset_, record.hash_});
  Check(it != offsets_.end(), "an erased record is in its segment");
  offsets_.erase(it);
  MarkDead(record);
  FreeAfterErase();
}

void RecordSegment::FreeAfterErase() {
  // A small buffer is kept, for tables that are emptied and filled again all the time.
  constexpr uint32_t kWorthFreeing = 256;
  constexpr uint32_t kWorthCompacting = 512;
  if (offsets_.empty() && capacity_ <= kWorthFreeing) {
    used_ = 0;
    dead_ = 0;
    return;
  }
  if (dead_ * 2 > used_ && (used_ > kWorthCompacting || offsets_.empty())) Pack();
}

void RecordSegment::Pack() {
  if (dead_ == 0) return;
  Compact(used_ - dead_);
  if (offsets_.size() * 8 < offsets_.capacity()) offsets_.rehash(0);
}

std::unique_ptr<RecordSegment> RecordSegment::SplitUpperHalf() {
  const uint32_t depth = depth_ + 1;
  auto low = std::make_unique<RecordSegment>(seed_, depth);
  auto high = std::make_unique<RecordSegment>(seed_, depth);
  low->offsets_.reserve(size() / 2);
  high->offsets_.reserve(size() / 2);
  low->Compact(used_ / 2);
  high->Compact(used_ / 2);
  for (uint32_t offset : offsets_) {
    const Record record = At(offset);
    const uint64_t hash = Hash(record.key());
    RecordSegment& target = (hash >> (64 - depth)) & 1 ? *high : *low;
    const uint32_t at = target.Add(record.key(), hash, record.size());
    std::copy_n(record.data(), record.size(), target.At(at).data());
  }

  // This object becomes the low half, so that the owner's references to it stay valid.
  std::swap(buffer_, low->buffer_);
  std::swap(used_, low->used_);
  std::swap(capacity_, low->capacity_);
  std::swap(dead_, low->dead_);
  depth_ = depth;
  offsets_.clear();
  offsets_.rehash(0);
  offsets_.reserve(low->offsets_.size());
  for (uint32_t offset : low->offsets_) offsets_.insert(offset);
  low->offsets_.clear();

  high->due_ms = due_ms;
  high->epoch = epoch;
  if (marks_ != nullptr) high->marks_ = std::make_unique<Marks>(*marks_);
  return high;
}

// The other records may be smaller than the first one. So the buffer begins with a quarter of what
// all would take at the first one's size, at most 32 KiB, but with room for the first one.
void RecordSegment::MakeRoomForExpected(size_t record_size) {
  const size_t expected = std::exchange(expected_, 0);
  offsets_.reserve(expected);
  Compact(std::max(record_size, std::min(record_size * expected / 4, kMaxBytes / 4)));
}

bool RecordSegment::IsFull(size_t more) const {
  if (offsets_.size() >= kMaxRecords) return true;
  const size_t bytes = used_ - dead_ + more;
  if (offsets_.size() >= 2 && bytes > kHardBytes) return true;
  return offsets_.size() >= kFewRecords && bytes > kMaxBytes;
}

void RecordSegment::MakeRoom(size_t more) {
  const size_t needed = used_ + more;
  if (needed <= capacity_) return;
  if (dead_ * 4 >= used_ && dead_ > 0) {
    const size_t live = used_ - dead_ + more;
    Compact(live + live / 8);
    return;
  }
  Check(needed < UINT32_MAX, "a segment stays below 4 GiB");
  // Allocators have four or more size classes per doubling, so growing by an eighth goes about one
  // class up.
  const size_t capacity = std::max<size_t>(needed + needed / 8, 32);
  MoveBuffer(capacity);
}

void RecordSegment::Compact(size_t capacity) {
  Check(capacity < UINT32_MAX, "a segment stays below 4 GiB");
  char* const packed = NewBuffer(capacity);
  uint32_t used = 0;
  for (const uint32_t& offset : offsets_) {
    const Record record = At(offset);
    const size_t bytes = RecordBytes(record.key_size_, record.payload_size_);
    std::memcpy(packed + used, buffer_ + offset, bytes);
    // The slot's hash depends on the key only, so the offset may be changed in place.
    const_cast<uint32_t&>(offset) = used;
    used += static_cast<uint32_t>(bytes);
  }
  FreeBuffer();
  buffer_ = packed;
  used_ = used;
  capacity_ = static_cast<uint32_t>(capacity);
  dead_ = 0;
}

size_t RecordSegment::MemoryBytes() const {
  // A flat_hash_set allocates a slot and a control byte for each unit of its capacity, and 17 bytes
  // more: 16 control bytes and padding.
  const size_t slots = offsets_.capacity();
  return sizeof(RecordSegment) + capacity_ + (slots == 0 ? 0 : slots * (sizeof(uint32_t) + 1) + 17);
}

}  // namespace tally
