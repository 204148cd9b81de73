// A hash table of byte records: key bytes -> payload bytes, packed.
//
// The space of 64-bit key hashes is split into ranges by extendible hashing (see directory.h). Each
// range is a Segment (see segment.h). A record costs its bytes, two length bytes and 6-11 bytes of
// index. A full segment splits in two, so that no insertion ever moves more than one segment. A
// scan in hash order has no state but a hash prefix.
//
// Keys are hashed with XXH3 and a seed. XXH3 is no cipher, but who wants keys that collide needs
// the hashes of known keys, and nobody outside sees them: the cursors of scans are enciphered
// (cursor_code.h). Keys that collide anyway share a segment, which is slow but not wrong.
//
// Not thread-safe. A Record is valid until the next Insert, Resize, Erase, Pack or Clear of its
// table.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/prefetch.h"
#include "core/table/directory.h"
#include "core/table/segment.h"

namespace tally {

class RecordTable {
 public:
  using Segment = RecordSegment;
  using Record = RecordSegment::Record;

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
  void PrefetchSegment(uint64_t hash) const { PrefetchBytes(SegmentOf(hash), 128); }
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
  // Erases the records of a segment for which erases(record) says so. It is called once for each,
  // and may change the payload's bytes. O(segment).
  template <typename Erases>
  void EraseIf(Segment& segment, Erases&& erases);
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

inline void RecordTable::PrefetchIndex(uint64_t hash) const {
  SegmentOf(hash)->PrefetchIndex(hash);
}

inline void RecordTable::PrefetchRecord(uint64_t hash) const {
  SegmentOf(hash)->PrefetchRecord(hash);
}

inline void RecordTable::PrefetchInsertion(uint64_t hash) const {
  SegmentOf(hash)->PrefetchInsertion(hash);
}

template <typename Erases>
void RecordTable::EraseIf(Segment& segment, Erases&& erases) {
  segment_bytes_ -= segment.MemoryBytes();
  size_ -= segment.EraseIf(erases);
  segment_bytes_ += segment.MemoryBytes();
}

template <typename Visit>
void RecordTable::ForEach(const Segment& segment, Visit&& visit) const {
  for (uint32_t offset : segment.offsets()) visit(segment.At(offset));
}

template <typename Visit>
void RecordTable::ForEach(Visit&& visit) const {
  uint64_t position = 0;
  while (const Segment* segment = NextSegment(position)) ForEach(*segment, visit);
}

}  // namespace tally
