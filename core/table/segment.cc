// A segment of a RecordTable: its buffer and its index.
//
// A record is: varint(key size * 2 + dead), varint(payload size), key, payload.
#include <algorithm>
#include <cstring>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/base/check.h"
#include "core/mem/blocks.h"
#include "core/table/record_table.h"

namespace tally {
namespace {

// 7/8 of 1,024 slots: what abseil fills before it would double.
constexpr size_t kMaxRecords = 896;
// A segment whose buffer would exceed this splits too, unless it has so few records that a split
// gains little.
constexpr size_t kMaxBytes = 128 * 1024;
constexpr size_t kFewRecords = 64;
// Above this every segment of two or more records splits: offsets have 32 bits.
constexpr size_t kHardBytes = size_t{1} << 30;

// Lengths below 2^31 as little-endian base-128.
char* PutLength(char* out, uint32_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

const char* GetLength(const char* in, uint32_t* value) {
  uint32_t byte = static_cast<unsigned char>(*in++);
  if (byte < 0x80) [[likely]] {
    *value = byte;
    return in;
  }
  uint32_t result = byte & 0x7F;
  for (int shift = 7;; shift += 7) {
    byte = static_cast<unsigned char>(*in++);
    result |= (byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  *value = result;
  return in;
}

template <typename Word>
bool SameWord(const char* a, const char* b) {
  Word x;
  Word y;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return x == y;
}

// Most keys are short: comparing two words, which may overlap, costs less than a call.
bool EqualBytes(const char* a, const char* b, size_t size) {
  if (size > 16) return std::memcmp(a, b, size) == 0;
  if (size >= 8) return SameWord<uint64_t>(a, b) && SameWord<uint64_t>(a + size - 8, b + size - 8);
  if (size >= 4) return SameWord<uint32_t>(a, b) && SameWord<uint32_t>(a + size - 4, b + size - 4);
  return size == 0 || (a[0] == b[0] && a[size / 2] == b[size / 2] && a[size - 1] == b[size - 1]);
}

size_t LengthBytes(size_t value) {
  size_t bytes = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++bytes;
  }
  return bytes;
}

size_t RecordBytes(size_t key_size, size_t payload_size) {
  return LengthBytes(key_size * 2) + LengthBytes(payload_size) + key_size + payload_size;
}

}  // namespace

RecordTable::Segment::~Segment() { FreeBlock(buffer_); }

bool RecordTable::Segment::HasMark(uint64_t mark_epoch, std::string_view key) const {
  return marks(mark_epoch) > 0 &&
         std::find(marks_->keys.begin(), marks_->keys.end(), key) != marks_->keys.end();
}

void RecordTable::Segment::AddMark(uint64_t mark_epoch, std::string_view key) {
  if (marks_ == nullptr || marks_->epoch != mark_epoch) {
    marks_ = std::make_unique<Marks>();
    marks_->epoch = mark_epoch;
  }
  marks_->keys.emplace_back(key);
}

size_t RecordTable::Segment::Hasher::operator()(uint32_t offset) const {
  const Record record = segment->At(offset);
  return XXH3_64bits_withSeed(record.key().data(), record.key().size(), segment->seed_);
}

bool RecordTable::Segment::Equal::operator()(uint32_t a, const Probe& b) const {
  uint32_t key_size = 0;
  uint32_t payload_size = 0;
  const char* in = GetLength(segment->buffer_ + a, &key_size);
  if (key_size >> 1 != b.key.size()) return false;
  return EqualBytes(GetLength(in, &payload_size), b.key.data(), b.key.size());
}

bool RecordTable::Segment::Equal::operator()(uint32_t a, const Collect& b) const {
  // In a debug build abseil compares more often than once.
  std::vector<uint32_t>& found = *b.offsets;
  const bool is_new = std::find(found.begin(), found.end(), a) == found.end();
  if (is_new && Hasher{segment}(a) == b.hash) found.push_back(a);
  return false;
}

RecordTable::Record RecordTable::Segment::At(uint32_t offset, uint64_t hash) const {
  Record record;
  uint32_t key_size = 0;
  uint32_t payload_size = 0;
  const char* in = GetLength(buffer_ + offset, &key_size);
  in = GetLength(in, &payload_size);
  record.segment_ = const_cast<Segment*>(this);
  record.key_ = const_cast<char*>(in);
  record.key_size_ = key_size >> 1;
  record.payload_size_ = payload_size;
  record.offset_ = offset;
  record.hash_ = hash;
  return record;
}

RecordTable::Record RecordTable::Segment::Find(std::string_view key, uint64_t hash) const {
  const auto it = offsets_.find(Probe{key, hash});
  return it == offsets_.end() ? Record() : At(*it, hash);
}

uint32_t RecordTable::Segment::Append(std::string_view key, size_t payload_size) {
  MakeRoom(RecordBytes(key.size(), payload_size));
  const uint32_t offset = used_;
  char* out = PutLength(buffer_ + used_, static_cast<uint32_t>(key.size() * 2));
  out = PutLength(out, static_cast<uint32_t>(payload_size));
  std::memcpy(out, key.data(), key.size());
  used_ = static_cast<uint32_t>(out - buffer_ + key.size() + payload_size);
  return offset;
}

uint32_t RecordTable::Segment::Add(std::string_view key, uint64_t hash, size_t payload_size) {
  if (expected_ != 0) [[unlikely]]
    MakeRoomForExpected(RecordBytes(key.size(), payload_size));
  const uint32_t offset = Append(key, payload_size);
  offsets_.lazy_emplace(Place{offset, hash}, [&](const auto& construct) { construct(offset); });
  return offset;
}

void RecordTable::Segment::MarkDead(uint32_t offset, size_t record_size) {
  buffer_[offset] = static_cast<char>(buffer_[offset] | 1);
  dead_ += static_cast<uint32_t>(record_size);
}

RecordTable::Record RecordTable::Segment::Resize(const Record& record, size_t payload_size) {
  const size_t old_size = RecordBytes(record.key_size_, record.payload_size_);
  const size_t new_size = RecordBytes(record.key_size_, payload_size);
  if (used_ + new_size > capacity_) return ResizeWithMove(record, payload_size);
  uint32_t offset = record.offset_;
  if (offset + old_size == used_ &&
      LengthBytes(record.payload_size_) == LengthBytes(payload_size)) {
    char* const length = record.key_ - LengthBytes(payload_size);
    PutLength(length, static_cast<uint32_t>(payload_size));
    used_ = static_cast<uint32_t>(offset + new_size);
  } else {
    const auto slot = offsets_.find(Place{offset, record.hash_});
    Check(slot != offsets_.end(), "a resized record is in its segment");
    MarkDead(offset, old_size);
    offset = Append(record.key(), payload_size);
    std::memcpy(At(offset).data(), record.data(), std::min<size_t>(record.size(), payload_size));
    // The slot's hash depends on the key only, so the offset may be changed in place.
    const_cast<uint32_t&>(*slot) = offset;
  }
  return At(offset, record.hash_);
}

// For a new size that does not fit in the buffer: the buffer moves, so the record is copied first.
RecordTable::Record RecordTable::Segment::ResizeWithMove(const Record& record,
                                                         size_t payload_size) {
  const std::string key(record.key());
  const std::string kept(record.data(), std::min<size_t>(record.size(), payload_size));
  const Place place{record.offset_, record.hash_};
  MarkDead(record.offset_, RecordBytes(key.size(), record.size()));
  offsets_.erase(offsets_.find(place));
  const Record resized = At(Add(key, place.hash, payload_size), place.hash);
  std::memcpy(resized.data(), kept.data(), kept.size());
  return resized;
}

void RecordTable::Segment::Erase(const Record& record) {
  const size_t record_size = RecordBytes(record.key_size_, record.payload_size_);
  const auto it = offsets_.find(Place{record.offset_, record.hash_});
  Check(it != offsets_.end(), "an erased record is in its segment");
  offsets_.erase(it);
  MarkDead(record.offset_, record_size);
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

void RecordTable::Segment::Pack() {
  if (dead_ == 0) return;
  Compact(used_ - dead_);
  if (offsets_.size() * 8 < offsets_.capacity()) offsets_.rehash(0);
}

// The other records may be smaller than the first one. So the buffer begins with a quarter of what
// all would take at the first one's size, at most 32 KiB, but with room for the first one.
void RecordTable::Segment::MakeRoomForExpected(size_t record_size) {
  const size_t expected = std::exchange(expected_, 0);
  offsets_.reserve(expected);
  Compact(std::max(record_size, std::min(record_size * expected / 4, kMaxBytes / 4)));
}

bool RecordTable::Segment::IsFull(size_t more) const {
  if (offsets_.size() >= kMaxRecords) return true;
  const size_t bytes = used_ - dead_ + more;
  if (offsets_.size() >= 2 && bytes > kHardBytes) return true;
  return offsets_.size() >= kFewRecords && bytes > kMaxBytes;
}

void RecordTable::Segment::MakeRoom(size_t more) {
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
  buffer_ = static_cast<char*>(ResizeBlock(buffer_, capacity));
  capacity_ = static_cast<uint32_t>(capacity);
}

void RecordTable::Segment::Compact(size_t capacity) {
  Check(capacity < UINT32_MAX, "a segment stays below 4 GiB");
  char* packed = capacity > 0 ? static_cast<char*>(ResizeBlock(nullptr, capacity)) : nullptr;
  uint32_t used = 0;
  for (const uint32_t& offset : offsets_) {
    const Record record = At(offset);
    const size_t bytes = RecordBytes(record.key_size_, record.payload_size_);
    std::memcpy(packed + used, buffer_ + offset, bytes);
    // The slot's hash depends on the key only, so the offset may be changed in place.
    const_cast<uint32_t&>(offset) = used;
    used += static_cast<uint32_t>(bytes);
  }
  FreeBlock(buffer_);
  buffer_ = packed;
  used_ = used;
  capacity_ = static_cast<uint32_t>(capacity);
  dead_ = 0;
}

size_t RecordTable::Segment::MemoryBytes() const {
  // A flat_hash_set allocates a slot and a control byte for each unit of its capacity, and 17 bytes
  // more: 16 control bytes and padding.
  const size_t slots = offsets_.capacity();
  return sizeof(Segment) + capacity_ + (slots == 0 ? 0 : slots * (sizeof(uint32_t) + 1) + 17);
}

}  // namespace tally
