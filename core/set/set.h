// The set value: distinct byte strings. An intset holds sorted integers in one allocation. Any
// other set is packed in one allocation while small, and is a table of packed records when larger.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/type.h"
#include "core/bytes/run_sink.h"
#include "core/set/int_set.h"
#include "core/table/compact_map.h"

namespace tally {

// Integers that a set may hold and still be an intset (set-max-intset-entries). Whatever it says, a
// set of more than Set::kMaxIntegers is a hashtable.
struct SetLimits {
  size_t max_integers = 512;
};

// Costs are O(log n) on an intset (changes O(n), bounded by kMaxIntegers), O(bytes) while packed
// and O(1) on a table, unless said otherwise; n is size().
class Set {
 public:
  static constexpr Type kType = Type::kSet;
  // An intset has at most this many members, because a change moves the members after it. It is the
  // same for sets that are loaded, so that a restart does not change the form.
  static constexpr size_t kMaxIntegers = size_t{1} << 20;

  // The view lives only during the call, which must not change the set.
  using Visitor = absl::FunctionRef<void(const ElementView& member)>;
  // Returns false to stop.
  using StoppingVisitor = absl::FunctionRef<bool(const ElementView& member)>;
  using Random = CompactMap::Random;

  // `seed` is for the hash of the members; it must be random and unknown to clients.
  explicit Set(uint64_t seed) : map_(seed, CompactMap::Shape::kKeys) {}
  // O(n).
  Set Clone() const { return {ints_.Clone(), map_.Clone(), is_intset_}; }
  // Empties the set but keeps its packed allocation, for an object that is filled again and again.
  void Clear();

  size_t size() const { return is_intset_ ? ints_.size() : map_.size(); }
  bool empty() const { return size() == 0; }
  // Whether it is no table: it is copied as fast as it is filled.
  bool is_small() const { return is_intset_ || map_.packed(); }

  bool Contains(std::string_view member) const;
  // False if it is in the set already.
  bool Insert(std::string_view member, const SetLimits& limits);
  // The same for the number's decimal text.
  bool Insert(int64_t number, const SetLimits& limits);
  // False if it is not in the set.
  bool Erase(std::string_view member);

  // Visits all members: of an intset in rising order, of a packed set in the order of insertion.
  void ForEach(StoppingVisitor visit) const;

  // A step of an iteration; see CompactMap::Scan for what it promises. An intset is visited whole.
  uint64_t Scan(uint64_t cursor, size_t count, Visitor visit) const;

  // Visits one member, chosen nearly uniformly. The set must not be empty (asserted).
  void Sample(uint64_t random, Visitor visit) const;
  // Visits `count` members, each chosen as by Sample, so that one may come several times.
  void SampleRepeated(size_t count, Random random, Visitor visit) const;
  // Visits `count` <= size() different members. O(count), or O(n) if this is no table or if `count`
  // is more than a hundredth of n.
  void SampleDistinct(size_t count, Random random, Visitor visit) const;

  // The reply of OBJECT ENCODING: "intset" or "hashtable", the two that Redis 7.0 has. A small set
  // of strings is packed here, but it is called a hashtable, as Redis would hold one.
  std::string_view encoding() const { return is_intset_ ? "intset" : "hashtable"; }

  // The bytes on the heap, without the object itself. O(1).
  size_t MemoryBytes() const { return ints_.MemoryBytes() + map_.MemoryBytes(); }

  // Frees about `count` members; true when nothing is left. Once begun, the set may only be freed
  // further or destroyed.
  bool FreeSome(size_t count);

  // Appends a run of about `max_bytes` from `cursor` on; 0 begins and 0 ends. A run is 'i' and then
  // rising integers, each as the difference from the one before (the first from 0), modulo 2^64, in
  // a signed varint; or 's' and then the members, each after its length as a varint.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Adds the members of a run. Returns false if it is malformed; the set must then be thrown away.
  [[nodiscard]] bool Load(std::string_view run);
  // For ValueOperations (core/keyspace/value.h); the runs have the form of those of Save(). Not for
  // an intset, which is small: BeginSnapshot returns false.
  bool BeginSnapshot(const RunSink& sink);
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
