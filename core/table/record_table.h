// A hash table of byte records: key bytes -> payload bytes, packed.
//
// The space of 64-bit key hashes is split into ranges by extendible hashing (see directory.h). Each
// range is a Segment: one byte buffer that holds its records back to back, and an
// absl::flat_hash_set of 32-bit offsets into it. A record costs its bytes, two length bytes and
// 6-11 bytes of index; a full segment splits in two, so that no insertion ever moves more than one
// segment, and a scan in hash order needs no state but a hash prefix.
//
// Not thread-safe. A Record is valid until the next Insert, Resize, Erase or Clear of its table.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/functional/function_ref.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/table/directory.h"

namespace tally {

class RecordTable {
 public:
  class Segment;

  // A place in the table. Contextually false when nothing was found.
  class Record {
   public:
    Record() = default;
    explicit operator bool() const { return segment_ != nullptr; }
    std::string_view key() const { return {key_, key_size_}; }
    // The payload; its bytes may be changed in place, its size only by Resize().
    char* data() const { return key_ + key_size_; }
    size_t size() const { return payload_size_; }
    std::string_view payload() const { return {data(), payload_size_}; }
    // A hint that the whole payload, up to some hundreds of bytes, will be read soon.
    void PrefetchPayload() const;
    Segment& segment() const { return *segment_; }

   private:
    friend class RecordTable;
    friend class Segment;
    Segment* segment_ = nullptr;
    char* key_ = nullptr;
    uint32_t key_size_ = 0;
    uint32_t payload_size_ = 0;
    uint32_t offset_ = 0;
    uint64_t hash_ = 0;
  };

  // Hears of a segment's split: `into` took some of the records of `from`, and its notes.
  class SplitObserver {
   public:
    virtual void OnSplit(Segment& from, Segment& into) = 0;

   protected:
    ~SplitObserver() = default;
  };

  // `seed` keys the hash; make it unpredictable where keys come from strangers.
  explicit RecordTable(uint64_t seed, SplitObserver* observer = nullptr);
  ~RecordTable();
  RecordTable(RecordTable&&) noexcept;
  RecordTable& operator=(RecordTable&&) noexcept;

  void set_observer(SplitObserver* observer) { observer_ = observer; }

  uint64_t Hash(std::string_view key) const;

  // O(1).
  Record Find(std::string_view key) const { return Find(key, Hash(key)); }
  Record Find(std::string_view key, uint64_t hash) const;

  // Fetches into the cache what Find will read for each key, step by step for all of them, so that
  // their misses overlap (as in Chen et al., "Improving Hash Join Performance through Prefetching",
  // 2004). Of no effect but on time; at most kMaxPrefetch keys.
  void Prefetch(std::span<const std::string_view> keys) const;
  // The same for keys that are about to be inserted.
  void PrefetchInsertions(std::span<const std::string_view> keys) const;
  static constexpr size_t kMaxPrefetch = 64;
  // The steps, for keys of several tables: each to be taken for all keys before the next one.
  void PrefetchSegment(uint64_t hash) const {
    const char* segment = reinterpret_cast<const char*>(SegmentOf(hash));
    __builtin_prefetch(segment);
    __builtin_prefetch(segment + kCacheLine);
  }
  void PrefetchIndex(uint64_t hash) const;
  void PrefetchRecord(uint64_t hash) const;
  // After PrefetchSegment(), instead of the others, where an insertion follows.
  void PrefetchInsertion(uint64_t hash) const;

  // Adds a record for a key that is absent (not checked again), its payload uninitialised.
  // Amortised O(1); at most one segment is moved.
  Record Insert(std::string_view key, uint64_t hash, size_t payload_size);
  Record Insert(std::string_view key, size_t payload_size) {
    return Insert(key, Hash(key), payload_size);
  }

  // Prepares a table that is as it was made for about this many records: the segments are there
  // from the start, none of them splits, and each gets memory for its share with its first record.
  // Of no effect on other tables. O(records / 400).
  void Reserve(size_t records);

  // Gives a record a payload of another size; the common prefix of the payload stays.
  Record Resize(const Record& record, size_t payload_size);

  void Erase(const Record& record);
  // Gives back what erased records of the segment took. Erasing does so by itself when they take
  // more than half of it. O(segment). Records and entries of the segment are not valid any more.
  void Pack(Segment& segment);

  // Where a key of this hash is or would be.
  Segment& SegmentFor(uint64_t hash) const { return *SegmentOf(hash); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Visits at least `count` records, if there are this many, in the order of their hashes, from
  // `cursor` on, and returns the next cursor: 0 begins and 0 ends. A cursor is below 2^48. Each
  // record that is in the table during a whole scan is visited exactly once, whatever else comes,
  // goes and splits. At most `kScanSegments` segments are looked at in one call. `visit` must not
  // change the table.
  uint64_t Scan(uint64_t cursor, size_t count,
                const std::function<void(const Record&)>& visit) const;
  static constexpr size_t kScanSegments = 256;

  // A record chosen near uniformly by the random number; false only when the table is empty.
  Record Sample(uint64_t random) const;
  // Visits the record that Sample() would choose for each of `count` numbers from `random`, in
  // their order. O(count log count), and one pass over the records for each quarter of a million:
  // to find the records one by one costs a pass over half a segment for each.
  void SampleMany(size_t count, absl::FunctionRef<uint64_t()> random,
                  absl::FunctionRef<void(const Record&)> visit) const;

  // The segments in hash order. `position` starts at 0; null at the end. Splits in between are no
  // harm: a range is never visited twice.
  Segment* NextSegment(uint64_t& position) const;
  bool AtEnd(uint64_t position) const { return position == kEndPosition; }

  // All records of a segment. `visit` must not change the table.
  template <typename Visit>
  void ForEach(const Segment& segment, Visit&& visit) const;
  template <typename Visit>
  void ForEach(Visit&& visit) const;

  // Frees about `segments` segments and returns true when none is left; the table may only be
  // freed on or destroyed after the first call.
  bool FreeSome(size_t segments);

  void Clear();

  // Heap bytes held, everything included. O(1).
  size_t MemoryBytes() const;

 private:
  static constexpr uint64_t kEndPosition = ~uint64_t{0};
  static constexpr size_t kCacheLine = 64;

  Segment* SegmentOf(uint64_t hash) const { return directory_.Find(hash); }
  // False if that would make the directory too large for what the table holds.
  bool MaySplit(const Segment& segment) const;
  // Where Sample() looks for a record: in which entry of the directory, and after how many others.
  struct Choice {
    size_t index;
    size_t rank;
  };
  Choice Choose(uint64_t random) const;
  void Split(Segment& segment);
  // Runs `change` on the segment and keeps the count of bytes right.
  template <typename Change>
  auto Accounted(Segment& segment, Change&& change);
  std::vector<std::pair<uint64_t, uint32_t>> RecordsFrom(const Segment& segment,
                                                         uint64_t prefix) const;

  uint64_t seed_;
  SplitObserver* observer_;
  Directory<Segment> directory_;
  size_t size_ = 0;
  size_t segment_bytes_ = 0;
};

// One range of the hash space. Public are the notes that an owner may keep on it.
class RecordTable::Segment {
 public:
  static constexpr int64_t kNothingDue = INT64_MAX;

  // Lower bound of what falls due in here (for example the earliest deadline), as the owner likes.
  int64_t due = kNothingDue;
  // The owner's mark, for example the number of the snapshot that has saved this segment.
  uint64_t epoch = 0;

  // Notes on single keys, which need not be in the segment: for example those that a snapshot has
  // saved before the segment's turn came. They hold for one epoch, and stay with both halves when
  // the segment splits. For few keys: O(marks).
  bool HasMark(uint64_t mark_epoch, std::string_view key) const;
  void AddMark(uint64_t mark_epoch, std::string_view key);
  size_t marks(uint64_t mark_epoch) const {
    return marks_ != nullptr && marks_->epoch == mark_epoch ? marks_->keys.size() : 0;
  }
  void ClearMarks() { marks_ = nullptr; }

  size_t size() const { return offsets_.size(); }

  Segment(uint64_t seed, uint32_t depth)
      : offsets_(0, Hasher{this}, Equal{this}), seed_(seed), depth_(depth) {}
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

 private:
  friend class RecordTable;

  struct Marks {
    uint64_t epoch = 0;
    std::vector<std::string> keys;
  };
  struct Probe {
    std::string_view key;
    uint64_t hash;
  };
  struct Place {
    uint32_t offset;
    uint64_t hash;
  };
  // Equals nothing, but fetches each record it is compared with.
  struct Fetch {
    uint64_t hash;
  };
  struct Hasher {
    using is_transparent = void;
    const Segment* segment;
    size_t operator()(uint32_t offset) const;
    size_t operator()(const Probe& probe) const { return probe.hash; }
    size_t operator()(const Place& place) const { return place.hash; }
    size_t operator()(const Fetch& fetch) const { return fetch.hash; }
  };
  struct Equal {
    using is_transparent = void;
    const Segment* segment;
    bool operator()(uint32_t a, uint32_t b) const { return a == b; }
    bool operator()(uint32_t a, const Probe& b) const;
    bool operator()(const Probe& a, uint32_t b) const { return (*this)(b, a); }
    bool operator()(uint32_t a, const Place& b) const { return a == b.offset; }
    bool operator()(const Place& a, uint32_t b) const { return a.offset == b; }
    bool operator()(uint32_t a, const Fetch&) const {
      __builtin_prefetch(segment->buffer_ + a);
      return false;
    }
    bool operator()(const Fetch& a, uint32_t b) const { return (*this)(b, a); }
  };

  // `hash` is the key's, where the record may be changed by it.
  Record At(uint32_t offset, uint64_t hash = 0) const;
  Record Find(std::string_view key, uint64_t hash) const;
  // Appends a record to the buffer; the index is the caller's.
  uint32_t Append(std::string_view key, size_t payload_size);
  uint32_t Add(std::string_view key, uint64_t hash, size_t payload_size);
  Record Resize(const Record& record, size_t payload_size);
  Record ResizeWithMove(const Record& record, size_t payload_size);
  void Erase(const Record& record);
  void Pack();
  void MakeRoomForExpected(size_t record_size);
  bool IsFull(size_t more) const;
  void MakeRoom(size_t more);
  // Moves the live records to a buffer of the given capacity.
  void Compact(size_t capacity);
  void MarkDead(uint32_t offset, size_t record_size);
  size_t MemoryBytes() const;

  absl::flat_hash_set<uint32_t, Hasher, Equal> offsets_;
  char* buffer_ = nullptr;
  uint32_t used_ = 0;
  uint32_t capacity_ = 0;
  uint32_t dead_ = 0;
  const uint64_t seed_;
  uint32_t depth_ = 0;
  uint32_t expected_ = 0;  // records; until the first one is added
  std::unique_ptr<Marks> marks_;
};

inline void RecordTable::Record::PrefetchPayload() const {
  constexpr size_t kMostLines = 8;
  const size_t size = std::min<size_t>(payload_size_, kMostLines * kCacheLine);
  for (size_t at = 0; at < size; at += kCacheLine) __builtin_prefetch(data() + at);
}

inline void RecordTable::PrefetchIndex(uint64_t hash) const {
  SegmentOf(hash)->offsets_.prefetch(Segment::Fetch{hash});
}

inline void RecordTable::PrefetchRecord(uint64_t hash) const {
  static_cast<void>(SegmentOf(hash)->offsets_.find(Segment::Fetch{hash}));
}

inline void RecordTable::PrefetchInsertion(uint64_t hash) const {
  const Segment* segment = SegmentOf(hash);
  segment->offsets_.prefetch(Segment::Fetch{hash});
  __builtin_prefetch(segment->buffer_ + segment->used_, 1);
}

template <typename Visit>
void RecordTable::ForEach(const Segment& segment, Visit&& visit) const {
  for (uint32_t offset : segment.offsets_) visit(segment.At(offset));
}

template <typename Visit>
void RecordTable::ForEach(Visit&& visit) const {
  uint64_t position = 0;
  while (const Segment* segment = NextSegment(position)) ForEach(*segment, visit);
}

}  // namespace tally
