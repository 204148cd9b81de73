// A hash table of byte records: key bytes -> payload bytes, packed.
//
// The space of 64-bit key hashes is split into ranges by extendible hashing (see directory.h). Each
// range is a Segment: one byte buffer that holds its records back to back, and an
// absl::flat_hash_set of 32-bit offsets into it. A record costs its bytes, two length bytes and
// 6-11 bytes of index. A full segment splits in two, so that no insertion ever moves more than one
// segment. A scan in hash order has no state but a hash prefix.
//
// Not thread-safe. A Record is valid until the next Insert, Resize, Erase, Pack or Clear of its
// table.
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

  // A record's place in the table. False in a condition if no record was found.
  class Record {
   public:
    Record() = default;
    explicit operator bool() const { return segment_ != nullptr; }
    std::string_view key() const { return {key_, key_size_}; }
    // The payload; its bytes may be changed in place, its size only by Resize().
    char* data() const { return key_ + key_size_; }
    size_t size() const { return payload_size_; }
    std::string_view payload() const { return {data(), payload_size_}; }
    // Prefetches the payload, but at most 512 bytes of it.
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

  // Is called after a segment's split: `into` is new and has some of the records of `from` and a
  // copy of its notes (due, epoch, marks).
  class SplitObserver {
   public:
    virtual void OnSplit(Segment& from, Segment& into) = 0;

   protected:
    ~SplitObserver() = default;
  };

  // `seed` is the seed of the hash; it must be unpredictable where clients choose the keys.
  // `observer` may be null.
  explicit RecordTable(uint64_t seed, SplitObserver* observer = nullptr);
  ~RecordTable();
  RecordTable(RecordTable&&) noexcept;
  RecordTable& operator=(RecordTable&&) noexcept;

  void set_observer(SplitObserver* observer) { observer_ = observer; }

  uint64_t Hash(std::string_view key) const;

  // O(1).
  Record Find(std::string_view key) const { return Find(key, Hash(key)); }
  Record Find(std::string_view key, uint64_t hash) const;
  // Visits the records whose keys have this hash: hardly ever more than one. `visit` must not
  // change the table. O(bytes of their keys).
  void ForEachWithHash(uint64_t hash, absl::FunctionRef<void(const Record&)> visit) const;

  // Prefetches what Find will read for each key. Takes each step for all keys before the next step,
  // so that their cache misses overlap (as in Chen et al., "Improving Hash Join Performance through
  // Prefetching", 2004). Affects nothing but time. At most kMaxPrefetch keys (asserted).
  void Prefetch(std::span<const std::string_view> keys) const;
  // The same for keys that are about to be inserted.
  void PrefetchInsertions(std::span<const std::string_view> keys) const;
  static constexpr size_t kMaxPrefetch = 64;
  // The single steps, for callers that have keys of several tables. Take each step for all keys
  // before the next step.
  void PrefetchSegment(uint64_t hash) const {
    const char* segment = reinterpret_cast<const char*>(SegmentOf(hash));
    __builtin_prefetch(segment);
    __builtin_prefetch(segment + kCacheLine);
  }
  void PrefetchIndex(uint64_t hash) const;
  void PrefetchRecord(uint64_t hash) const;
  // To be called after PrefetchSegment(), instead of the other two, if the key is going to be
  // inserted.
  void PrefetchInsertion(uint64_t hash) const;

  // Adds a record for a key, which must be absent (not checked). The payload is uninitialised.
  // Amortised O(1); at most one segment is moved.
  Record Insert(std::string_view key, uint64_t hash, size_t payload_size);
  Record Insert(std::string_view key, size_t payload_size) {
    return Insert(key, Hash(key), payload_size);
  }

  // Prepares a new table for about this many records. All segments exist from then on, so that none
  // has to split; each allocates memory for its share when it gets its first record. Does nothing
  // if the table is not empty or has split before. O(records / 400).
  void Reserve(size_t records);

  // Changes the size of the record's payload and returns the record's new place. The payload's
  // bytes are kept, as far as the new size allows; bytes added are uninitialised.
  Record Resize(const Record& record, size_t payload_size);

  void Erase(const Record& record);
  // Frees the memory of the segment's erased records. Erase does so itself when they take more than
  // half of the segment. O(segment). Records and entries of the segment are invalid afterwards.
  void Pack(Segment& segment);

  // The segment that holds, or would hold, a key with this hash.
  Segment& SegmentFor(uint64_t hash) const { return *SegmentOf(hash); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Visits at least `count` records, if there are this many, in hash order, beginning at `cursor`,
  // and returns the next cursor: 0 begins, and 0 is returned at the end. Cursors are below 2^48. A
  // record that is in the table during the whole scan is visited exactly once, whatever is
  // inserted, erased and split between the calls. One call looks at no more than `kScanSegments`
  // segments, even if it then visits fewer records. `visit` must not change the table.
  uint64_t Scan(uint64_t cursor, size_t count,
                const std::function<void(const Record&)>& visit) const;
  static constexpr size_t kScanSegments = 256;

  // A record that the random number chooses nearly uniformly; false only if the table is empty.
  Record Sample(uint64_t random) const;
  // For each of `count` numbers from `random`, in their order, visits the record that Sample()
  // would choose; visits nothing if the table is empty. O(count log count), and one pass over the
  // records for each 2^18 numbers. Finding each record alone would cost a pass over half a segment.
  void SampleMany(size_t count, absl::FunctionRef<uint64_t()> random,
                  absl::FunctionRef<void(const Record&)> visit) const;

  // Returns the segments in hash order, null at the end. `position` starts at 0. Segments may split
  // between the calls: no range of hashes is visited twice.
  Segment* NextSegment(uint64_t& position) const;
  bool AtEnd(uint64_t position) const { return position == kEndPosition; }

  // Visits all records of a segment. `visit` must not change the table.
  template <typename Visit>
  void ForEach(const Segment& segment, Visit&& visit) const;
  template <typename Visit>
  void ForEach(Visit&& visit) const;

  // Frees up to `segments` segments; returns true when none is left. After the first call the table
  // may only be freed further or destroyed.
  bool FreeSome(size_t segments);

  void Clear();

  // Heap bytes of segments and directory; the marks of segments are not counted. O(1).
  size_t MemoryBytes() const;

 private:
  static constexpr uint64_t kEndPosition = ~uint64_t{0};
  static constexpr size_t kCacheLine = 64;

  Segment* SegmentOf(uint64_t hash) const { return directory_.Find(hash); }
  // False if a split would make the directory too large for the number of records.
  bool MaySplit(const Segment& segment) const;
  // Where Sample() finds its record: `index` is the entry of the directory, `rank` the number of
  // records before it in that segment.
  struct Choice {
    size_t index;
    size_t rank;
  };
  Choice Choose(uint64_t random) const;
  void Split(Segment& segment);
  // Runs `change` on the segment and updates segment_bytes_.
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

// One range of the hash space. Its public members are notes that the table's owner keeps on it.
class RecordTable::Segment {
 public:
  static constexpr int64_t kNothingDue = INT64_MAX;

  // A lower bound of the instants at which something in here falls due, for example the earliest
  // deadline. The owner sets it.
  int64_t due = kNothingDue;
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
    const Segment* segment;
    size_t operator()(uint32_t offset) const;
    size_t operator()(const Probe& probe) const { return probe.hash; }
    size_t operator()(const Place& place) const { return place.hash; }
    size_t operator()(const Fetch& fetch) const { return fetch.hash; }
    size_t operator()(const Collect& collect) const { return collect.hash; }
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
    bool operator()(uint32_t a, const Collect& b) const;
    bool operator()(const Collect& a, uint32_t b) const { return (*this)(b, a); }
  };

  // `hash` must be the key's hash if the returned record is passed to Resize or Erase.
  Record At(uint32_t offset, uint64_t hash = 0) const;
  Record Find(std::string_view key, uint64_t hash) const;
  // Appends a record to the buffer and returns its offset; the caller adds that to the index.
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
  uint32_t expected_ = 0;  // reserved records; 0 after the first one is added
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
