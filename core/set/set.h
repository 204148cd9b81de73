// The set value: distinct byte strings. Sorted integers in one allocation while it is an intset;
// packed in one allocation while small otherwise, and a table of packed records beyond.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/type.h"
#include "core/set/int_set.h"
#include "core/table/compact_map.h"

namespace tally {

// Integers that a set may hold and still be an intset (set-max-intset-entries).
struct SetLimits {
  size_t max_integers = 512;
};

// Costs are O(log n) on an intset (changes O(n), bounded by the limit), O(bytes) while packed and
// O(1) on a table, unless said otherwise; n is size().
class Set {
 public:
  static constexpr Type kType = Type::kSet;

  // The view lives only during the call, which must not change the set.
  using Visitor = absl::FunctionRef<void(std::string_view member)>;
  // Returns false to stop.
  using StoppingVisitor = absl::FunctionRef<bool(std::string_view member)>;
  using Random = CompactMap::Random;

  // `seed` is of the members' hash: random, and not known to clients.
  explicit Set(uint64_t seed) : map_(seed, CompactMap::Shape::kKeys) {}
  // O(n).
  Set Clone() const { return {ints_.Clone(), map_.Clone(), is_intset_}; }

  size_t size() const { return is_intset_ ? ints_.size() : map_.size(); }
  bool empty() const { return size() == 0; }

  bool Contains(std::string_view member) const;
  // False if it is in the set already.
  bool Insert(std::string_view member, const SetLimits& limits);
  // False if it is not in the set.
  bool Erase(std::string_view member);

  // All members: an intset in their order, a small set in the order of insertion.
  void ForEach(StoppingVisitor visit) const;

  // A step of an iteration; see CompactMap::Scan for what it promises. An intset is visited whole.
  uint64_t Scan(uint64_t cursor, size_t count, Visitor visit) const;

  // One member, chosen nearly uniformly; the set is not empty.
  void Sample(uint64_t random, Visitor visit) const;
  // `count` of them, one after the other: one may come several times.
  void SampleRepeated(size_t count, Random random, Visitor visit) const;
  // `count` <= size() different members. O(count), or O(n) for more than a hundredth of all.
  void SampleDistinct(size_t count, Random random, Visitor visit) const;

  // OBJECT ENCODING: "intset" or "hashtable", the two that Redis 7.0 has. Small sets of strings are
  // packed here, but clients know no such set and take the name of what Redis would hold.
  std::string_view encoding() const { return is_intset_ ? "intset" : "hashtable"; }

  // What it has allocated, beside itself. O(1).
  size_t MemoryBytes() const { return ints_.MemoryBytes() + map_.MemoryBytes(); }

  // Frees about `count` members; true when nothing is left. Once begun, the set may only be freed
  // further or destroyed.
  bool FreeSome(size_t count);

  // Appends a run of about `max_bytes` from `cursor` on; 0 begins and 0 ends. A run is 'i', then
  // rising integers, each as its difference from the one before (at first 0), modulo 2^64, in a
  // signed varint; or 's', then each member after its length as a varint.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Adds what a run holds. False if it is malformed; the set is to be thrown away then.
  [[nodiscard]] bool Load(std::string_view run);
  // What ValueOperations asks for: runs as those of Save. Not of an intset, which is small.
  bool BeginSnapshot(const CompactMap::RunSink& sink);
  bool SaveSnapshot() { return map_.SaveSnapshot(); }
  void EndSnapshot() { map_.EndSnapshot(); }

 private:
  Set(IntSet ints, CompactMap map, bool is_intset)
      : ints_(std::move(ints)), map_(std::move(map)), is_intset_(is_intset) {}
  void BecomeMap();
  bool InsertInMap(std::string_view member);
  uint64_t SaveIntegers(uint64_t from, size_t max_bytes, std::string& out) const;
  bool LoadIntegers(std::string_view run);

  IntSet ints_;
  CompactMap map_;
  bool is_intset_ = true;
};

}  // namespace tally
