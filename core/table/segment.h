// A segment of a RecordTable: one range of the hash space. It is one byte buffer that holds its
// records back to back, and an absl::flat_hash_set of 32-bit offsets into it. `due_ms`, `epoch` and
// the marks are notes that the table's owner keeps on it. Not thread-safe. A Record is valid until
// its segment changes.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/prefetch.h"
#include "core/bytes/counted_block.h"
#include "core/table/record_layout.h"

namespace tally {

class RecordSegment {
 public:
  // A record's place in the table. False in a condition if no record was found.
  class Record {
   public:
    Record() = default;
    explicit operator bool() const { return segment_ != nullptr; }
    std::string_view key() const { return {key_, key_size_}; }
    // The payload; its bytes may be changed in place, its size only by RecordTable::Resize().
    char* data() const { return key_ + key_size_; }
    size_t size() const { return payload_size_; }
    std::string_view payload() const { return {data(), payload_size_}; }
    // Prefetches the payload, but at most 512 bytes of it.
    void PrefetchPayload() const { PrefetchBytes(data(), std::min<size_t>(payload_size_, 512)); }
    RecordSegment& segment() const { return *segment_; }
    // Views of key and payload that a reply may share.
    ElementView key_element() const { return {key(), segment_->block()}; }
    ElementView element() const { return {payload(), segment_->block()}; }

   private:
    friend class RecordSegment;
    RecordSegment* segment_ = nullptr;
    char* key_ = nullptr;
    uint32_t key_size_ = 0;
    uint32_t payload_size_ = 0;
    uint32_t offset_ = 0;
    uint64_t hash_ = 0;
  };

  static constexpr int64_t kNothingDue = INT64_MAX;

  // A lower bound of the instants at which something in here falls due, for example the earliest
  // deadline. The owner sets it.
  int64_t due_ms = kNothingDue;
  // The owner's mark, for example the number of the snapshot that has saved this segment.
  uint64_t epoch = 0;

  // Marks on single keys, for example on the keys that a snapshot has saved before the segment's
  // turn came. A marked key need not be in the segment. Marks are valid for one epoch; when the
  // segment splits, both halves get them. For few keys only: O(marks).
  bool HasMark(uint64_t mark_epoch, std::string_view key) const;
  void AddMark(uint64_t mark_epoch, std::string_view key);
  size_t marks(uint64_t mark_epoch) const {
    return marks_ != nullptr && marks_->epoch == mark_epoch ? marks_->keys.size() : 0;
  }
  void ClearMarks() { marks_ = nullptr; }

  size_t size() const { return offsets_.size(); }
  // Bytes of the records: keys, payloads and lengths.
  size_t bytes() const { return used_ - dead_; }
  // Bytes of records that were erased, have moved or became shorter, which Pack() would free.
  size_t dead_bytes() const { return dead_; }

  // How many top bits all hashes of this range share.
  uint32_t depth() const { return depth_; }
  // Heap bytes with the object itself, without the marks. O(1).
  size_t MemoryBytes() const;

  // The record at one of offsets(). `hash` must be the key's hash if the record is passed to
  // RecordTable::Resize or Erase. O(1).
  Record At(uint32_t offset, uint64_t hash = 0) const;
  // The offsets of all records, in no order that means anything.
  const auto& offsets() const { return offsets_; }
  // O(1).
  Record Find(std::string_view key, uint64_t hash) const;
  // The offsets of the records whose keys have this hash. O(bytes of their keys).
  std::vector<uint32_t> WithHash(uint64_t hash) const;

  // See RecordTable.
  void PrefetchIndex(uint64_t hash) const { offsets_.prefetch(Fetch{hash}); }
  void PrefetchRecord(uint64_t hash) const { static_cast<void>(offsets_.find(Fetch{hash})); }
  void PrefetchInsertion(uint64_t hash) const {
    offsets_.prefetch(Fetch{hash});
    __builtin_prefetch(buffer_ + used_, 1);
  }
  void PrefetchAt(uint32_t offset) const { __builtin_prefetch(buffer_ + offset); }

  // `seed` is the seed of the hash.
  RecordSegment(uint64_t seed, uint32_t depth)
      : offsets_(0, Hasher{this}, Equal{this}), seed_(seed), depth_(depth) {}
  ~RecordSegment();
  RecordSegment(const RecordSegment&) = delete;
  RecordSegment& operator=(const RecordSegment&) = delete;

 private:
  // Only the table changes a segment, because it counts its records and bytes.
  friend class RecordTable;

  struct Marks {
    uint64_t epoch = 0;
    std::vector<std::string> keys;
  };
  struct Probe {
    std::string_view key;
    uint64_t hash;
  };
  struct HashedOffset {
    uint32_t offset;
    uint64_t hash;
  };
  // Equals no record; the comparison with a record prefetches that record.
  struct Fetch {
    uint64_t hash;
  };
  // Equals no record; the comparison notes the record's offset if its key has this hash.
  struct Collect {
    uint64_t hash;
    std::vector<uint32_t>* offsets;
  };
  struct Hasher {
    using is_transparent = void;
    const RecordSegment* segment;
    size_t operator()(uint32_t offset) const;
    size_t operator()(const Probe& probe) const { return probe.hash; }
    size_t operator()(const HashedOffset& location) const { return location.hash; }
    size_t operator()(const Fetch& fetch) const { return fetch.hash; }
    size_t operator()(const Collect& collect) const { return collect.hash; }
  };
  struct Equal {
    using is_transparent = void;
    const RecordSegment* segment;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, const Probe& b) const;
    bool operator()(const Probe& a, uint32_t b) const { return (*this)(b, a); }
    bool operator()(uint32_t a, const HashedOffset& b) const { return a == b.offset; }
    bool operator()(const HashedOffset& a, uint32_t b) const { return a.offset == b; }
    bool operator()(uint32_t a, const Fetch&) const {
      __builtin_prefetch(segment->buffer_ + a);
      return false;
    }
    bool operator()(const Fetch& a, uint32_t b) const { return (*this)(b, a); }
    bool operator()(uint32_t a, const Collect& b) const;
    bool operator()(const Collect& a, uint32_t b) const { return (*this)(b, a); }
  };

  uint64_t Hash(std::string_view key) const;
  // Appends a record to the buffer and returns its offset; the caller adds that to the index.
  uint32_t Append(std::string_view key, size_t payload_size);
  uint32_t Add(std::string_view key, uint64_t hash, size_t payload_size);
  Record Resize(const Record& record, size_t payload_size);
  bool ResizeInPlace(const Record& record, size_t payload_size);
  // Not inlined: most records that change stay in place.
  [[gnu::noinline]] Record ResizeElsewhere(const Record& record, size_t payload_size);
  Record ResizeWithMove(const Record& record, size_t payload_size);
  void Erase(const Record& record);
  // Returns how many records it has erased.
  template <typename Erases>
  size_t EraseIf(Erases&& erases);
  void FreeAfterErase();
  void Pack();
  // Moves the records whose next bit of the hash is 1 to a new segment, which gets a copy of the
  // notes. Both are one deeper than this one was. O(segment).
  std::unique_ptr<RecordSegment> SplitUpperHalf();
  // Prepares an empty segment of this depth for about this many records; see RecordTable::Reserve.
  void Expect(uint32_t depth, uint32_t records) {
    depth_ = depth;
    expected_ = records;
  }
  void MakeRoomForExpected(size_t record_size);
  // A large buffer is a counted block (core/bytes/counted_block.h). While others own it too, no
  // byte of a key or a payload in it changes, but for the payloads that the table's owner changes.
  static constexpr uint32_t kCountedFrom = 256 * 1024;
  bool counted() const { return capacity_ >= kCountedFrom; }
  const char* block() const { return counted() ? buffer_ : nullptr; }
  bool shared() const { return counted() && counted_block::IsShared(buffer_); }
  static char* NewBuffer(size_t capacity);
  void FreeBuffer();
  void MoveBuffer(size_t capacity);

  bool IsFull(size_t more) const;
  void MakeRoom(size_t more);
  // Moves the live records to a buffer of the given capacity.
  void Compact(size_t capacity);
  void MarkDead(const Record& record) {
    dead_ +=
        static_cast<uint32_t>(record_layout::RecordBytes(record.key_size_, record.payload_size_));
  }

  absl::flat_hash_set<uint32_t, Hasher, Equal> offsets_;
  char* buffer_ = nullptr;
  uint32_t used_ = 0;
  uint32_t capacity_ = 0;
  uint32_t dead_ = 0;
  const uint64_t seed_;
  uint32_t depth_ = 0;
  uint32_t expected_ = 0;  // reserved records; 0 after the first one is added
  std::unique_ptr<Marks> marks_;
};

template <typename Erases>
size_t RecordSegment::EraseIf(Erases&& erases) {
  const size_t erased = absl::erase_if(offsets_, [&](uint32_t offset) {
    const Record record = At(offset);
    if (!erases(record)) return false;
    MarkDead(record);
    return true;
  });
  if (erased > 0) FreeAfterErase();
  return erased;
}

}  // namespace tally
