// The sorted set value: members are byte strings, scores doubles; ordered by score, then by the
// members' bytes. Small sets are packed in one allocation, larger ones are indexed.
//
// Ranges of every kind are intervals of ranks: find one with ScoreRange, LexRange or from ranks,
// then count it (size()), walk it (ForEach) or erase it (EraseRange). n is size() below; small sets
// take O(n), bounded by the limits, for everything.
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

#include "core/zset/indexed_zset.h"
#include "core/zset/packed_zset.h"
#include "core/zset/position.h"

namespace tally {

// Up to where a set stays packed (zset-max-listpack-entries, zset-max-listpack-value). Lower limits
// apply where a set cannot be packed: 246 bytes a member, 1 MiB a set.
struct ZSetLimits {
  size_t max_packed_entries = 128;
  size_t max_packed_member = 64;
};

class ZSet {
 public:
  // Receives (member, score); the member's bytes live only during the call. Returns false to stop.
  // Must not change the set.
  using Visitor = absl::FunctionRef<bool(std::string_view, double)>;

  // `seed` is of the members' hash: random, and not known to clients, so that they cannot choose
  // members that collide.
  explicit ZSet(uint64_t seed) : seed_(seed) {}

  size_t size() const;
  bool empty() const { return size() == 0; }

  // OBJECT ENCODING: "listpack" or "skiplist", as Redis calls the small and the large form.
  const char* encoding() const;

  // The member's score. O(1).
  std::optional<double> Score(std::string_view member) const;

  // Adds the member, or gives it a new score, which must not be NaN. As in Redis, 0 and -0 are
  // equal scores: the older one stays. O(log n); amortised O(1) for what goes to the end.
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

  // Takes out and returns the element with the lowest, the highest score. Not from an empty set.
  std::pair<std::string, double> PopMin();
  std::pair<std::string, double> PopMax();

  // One step of an iteration in hash order. Begins with cursor 0 and is over when 0 is returned;
  // cursors are below 2^48. Every element that is in the set all the while is visited exactly once,
  // whatever changes between the steps (at least once if the set grows out of the small form, which
  // one step visits whole). `count` elements are visited, sometimes a few more.
  uint64_t Scan(uint64_t cursor, size_t count,
                absl::FunctionRef<void(std::string_view, double)> visit) const;

  // O(n log n) on the members' hash and order.
  ZSet Clone(const ZSetLimits& limits) const;

  // Takes the set apart in slices: frees about `count` elements; true when nothing is left. Once
  // begun, the set may only be taken apart further or destroyed.
  bool FreeSome(size_t count);

  // Everything that the set has allocated, as HeapBytes counts; not sizeof(ZSet). O(1).
  size_t MemoryBytes() const;

  // Appends a run of elements to `out`, from `from_rank` < size() on, until it has max_bytes or
  // more; returns the rank to go on from. An element is its score (8 bytes, little-endian) and its
  // length-prefixed member (core/bytes/varint.h).
  size_t Save(size_t from_rank, size_t max_bytes, std::string& out) const;

  // Adds the elements of a run. False if it is malformed: too short, a NaN, a member that is in the
  // set already; what came before stays added. Runs in order are loaded fastest.
  [[nodiscard]] bool Load(std::string_view run, const ZSetLimits& limits);

  // What ValueOperations asks for: runs as those of Save, but not in order. Not of a small
  // set.
  bool BeginSnapshot(const ZSetSnapshot::RunSink& sink);
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
