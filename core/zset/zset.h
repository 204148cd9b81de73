// The sorted set value: members are byte strings, scores are doubles. Elements are ordered by
// score, then by the members' bytes. Small sets are packed in one allocation, larger ones are
// indexed.
//
// Ranges of every kind are intervals of ranks: make one with ScoreRange, LexRange or from ranks,
// then count it (size()), walk it (ForEach) or erase it (EraseRange). Below, n is size(). In small
// sets everything takes O(n), and the limits bound n.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "core/bytes/run_sink.h"
#include "core/zset/indexed_zset.h"
#include "core/zset/packed_zset.h"
#include "core/zset/position.h"

namespace tally {

// The limits up to which a set stays packed (zset-max-listpack-entries, zset-max-listpack-value).
// Whatever they are, a packed set has at most 246 bytes per member and 1 MiB in total.
struct ZSetLimits {
  size_t max_packed_entries = 128;
  size_t max_packed_member = 64;
};

class ZSet {
 public:
  // Receives (member, score); the member's bytes live only during the call. Returns false to stop.
  // Must not change the set.
  using Visitor = absl::FunctionRef<bool(const ElementView&, double)>;

  // `seed` is the seed of the members' hash: random, and not known to clients, so that they cannot
  // choose members that collide.
  explicit ZSet(uint64_t seed) : seed_(seed) {}

  size_t size() const;
  bool empty() const { return size() == 0; }
  // Whether it is packed: it is copied as fast as it is filled.
  bool is_small() const { return std::holds_alternative<PackedZSet>(form_); }

  // OBJECT ENCODING: "listpack" or "skiplist", as Redis calls the small and the large form.
  const char* encoding() const;

  // The member's score. O(1).
  std::optional<double> Score(std::string_view member) const;

  // Adds the member, or gives it a new score, which must not be NaN (asserted). 0 and -0 are equal
  // scores, as in Redis; -0 is stored as 0. O(log n), without a search for what goes to the end.
  AddResult Set(std::string_view member, double score, const ZSetLimits& limits);

  // False if the member is not in the set. O(log n).
  bool Erase(std::string_view member);

  // The member's rank, from the lowest score (or from the highest), counted from 0. O(log n).
  std::optional<size_t> Rank(std::string_view member, bool reverse = false) const;

  // The element at a rank < size(). O(log n).
  std::pair<std::string, double> At(size_t rank) const;

  // The elements between two scores. O(log n). Bounds that exclude each other give an empty range.
  RankRange ScoreRange(const ScoreBound& min, const ScoreBound& max) const;

  // The elements between two members, if all scores are equal; otherwise which elements these are
  // is unspecified, as in Redis. O(log n).
  RankRange LexRange(const LexBound& min, const LexBound& max) const;

  // Walks a range within size(), upwards or downwards. O(log n + visited).
  void ForEach(RankRange range, bool reverse, Visitor visit) const;

  // O(log n + range.size()).
  void EraseRange(RankRange range);

  // Removes and returns the element with the lowest or the highest score. The set must not be empty
  // (asserted).
  std::pair<std::string, double> PopMin();
  std::pair<std::string, double> PopMax();

  // One step of an iteration in hash order. The first step takes cursor 0, and the iteration is
  // over when 0 is returned; cursors are below 2^48. An element that is in the set during the whole
  // iteration is visited exactly once, whatever changes between the steps. A step visits `count`
  // elements, sometimes a few more; a small set is visited whole in one step.
  uint64_t Scan(uint64_t cursor, size_t count,
                absl::FunctionRef<void(const ElementView&, double)> visit) const;

  // The copy of a small set becomes large if it exceeds `limits`; that of a large set stays large.
  // O(n log n), because every member is hashed and put in order again.
  ZSet Clone() const;
  // Empties the set but keeps its packed allocation, for an object that is filled again and again.
  void Clear();

  // Frees the set in slices of about `count` elements; returns true when nothing is left. After the
  // first call the set may only be freed further or destroyed.
  bool FreeSome(size_t count);

  // Heap bytes of the set, counted as HeapBytes does, without sizeof(ZSet) and without a snapshot
  // under way. O(1).
  size_t MemoryBytes() const;

  // Appends a run of elements to `out`, beginning at `from_rank` < size(), until it has `max_bytes`
  // or more; returns the rank to go on from, 0 at the end. An element is its score (8 bytes,
  // little-endian) and its length-prefixed member (core/bytes/varint.h).
  uint64_t Save(uint64_t from_rank, size_t max_bytes, std::string& out) const;

  // Adds the elements of a run. Returns false if the run is malformed: it is too short, has a NaN,
  // or has a member that is in the set already. The elements before that stay added. Runs in the
  // order of ranks load fastest.
  [[nodiscard]] bool Load(std::string_view run, const ZSetLimits& limits = {});

  // See ValueOperations::begin_snapshot. Runs are like those of Save, but not in order.
  // BeginSnapshot returns false for a small set.
  bool BeginSnapshot(const RunSink& sink);
  bool SaveSnapshot();
  void EndSnapshot();

 private:
  using Large = std::unique_ptr<IndexedZSet>;

  size_t RankOf(const Position& position) const;
  AddResult SetPacked(PackedZSet& packed, const MemberName& name, double score,
                      const ZSetLimits& limits);
  void Unpack();

  uint64_t seed_;
  std::variant<PackedZSet, Large> form_;
};

}  // namespace tally
