// The hash value: fields with values, both byte strings. A small hash is packed in one allocation,
// in the order of insertion; a larger one is a table of packed records. Both forms hold integers
// and hexadecimal ids in binary (core/bytes/compact_text.h).
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/base/type.h"
#include "core/bytes/compact_text.h"
#include "core/bytes/run_sink.h"
#include "core/table/compact_map.h"

namespace tally {

// The limits up to which a hash is called a listpack (hash-max-listpack-entries,
// hash-max-listpack-value). max_size is in bytes, and applies to each field and each value.
struct HashLimits {
  size_t max_fields = 512;
  size_t max_size = 64;
};

// Costs are O(1) on a table and O(bytes) while packed, unless said otherwise; n is size().
class Hash {
 public:
  static constexpr Type kType = Type::kHash;
  // A saved hash of at most this many bytes is kept in the key's record and copied for each
  // command.
  static constexpr size_t kMaxPackedBytes = 128;

  // A value in its coded form; valid until the hash changes.
  class Value {
   public:
    explicit Value(const ElementView& code) : code_(code) {}
    std::optional<int64_t> integer() const { return IntegerOfCode(code_); }
    PlainText text() const { return PlainText(code_); }

   private:
    ElementView code_;
  };

  // The views live only during the call, which must not change the hash.
  using Visitor = absl::FunctionRef<void(const ElementView& field, const ElementView& value)>;
  using Random = CompactMap::Random;

  // `seed` is for the hash of the fields; it must be random and unknown to clients.
  explicit Hash(uint64_t seed) : map_(seed, CompactMap::Shape::kPairs) {}
  // O(n).
  Hash Clone() const { return {map_.Clone(), beyond_listpack_}; }

  size_t size() const { return map_.size(); }
  bool empty() const { return size() == 0; }

  std::optional<Value> Find(std::string_view field) const;

  // Adds the field, or replaces its value in place. Returns true if it was added.
  bool Set(std::string_view field, std::string_view value, const HashLimits& limits);

  enum class IncrementStatus : uint8_t { kOk, kNotInteger, kOverflow };
  struct IncrementResult {
    IncrementStatus status;
    int64_t value;  // afterwards; 0 unless kOk
  };
  // Adds `delta` to the field's value; an absent field counts as 0. Nothing changes unless kOk.
  IncrementResult Increment(std::string_view field, int64_t delta, const HashLimits& limits);

  // True if the field was there.
  bool Erase(std::string_view field) { return map_.Erase(CompactText(field).code()); }

  // Visits all fields, in the order of insertion while packed.
  void ForEach(Visitor visit) const;

  // A step of an iteration; see CompactMap::Scan for what it promises.
  uint64_t Scan(uint64_t cursor, size_t count, Visitor visit) const;

  // Visits one field, chosen nearly uniformly. The hash must not be empty (asserted).
  void Sample(uint64_t random, Visitor visit) const;
  // Visits `count` fields, each chosen as by Sample, so that one may come several times.
  void SampleRepeated(size_t count, Random random, Visitor visit) const;
  // Visits `count` <= size() different fields. O(count), or O(n) if packed or if `count` is more
  // than a hundredth of n.
  void SampleDistinct(size_t count, Random random, Visitor visit) const;

  // The reply of OBJECT ENCODING: "listpack" until the limits are exceeded, "hashtable" from then
  // on; Redis gives the same names in these cases. A hash of a few long values is called a
  // hashtable although it is packed: the name tells clients that the limits were exceeded.
  std::string_view encoding() const { return beyond_listpack_ ? "hashtable" : "listpack"; }

  // The bytes on the heap, without the object itself. O(1).
  size_t MemoryBytes() const { return map_.MemoryBytes(); }

  // Frees about `count` fields; true when nothing is left. Once begun, the hash may only be freed
  // further or destroyed.
  bool FreeSome(size_t count) { return map_.FreeSome(count); }

  // Empties the hash but keeps its packed allocation, for an object that is loaded again and again.
  void Clear() { Check(LoadPacked({&kListpackRun, 1}), "an empty hash is well formed"); }
  // Appends the form in which the key's record holds a small hash: 'l' or 'h' as in a run, then the
  // codes of each field and its value, each after its length. Returns false if the hash is too
  // large; `out` may then hold a part of it.
  [[nodiscard]] bool SavePacked(std::string& out) const;
  // Replaces the fields by those of `bytes`. Returns false if `bytes` are malformed, but does not
  // check that each cell is a code and each field there once: bytes from elsewhere must be checked
  // with IsPacked. O(bytes).
  [[nodiscard]] bool LoadPacked(std::string_view bytes);
  // Whether `bytes` are what SavePacked gives for some hash. At most kMaxPackedBytes are.
  static bool IsPacked(std::string_view bytes);
  // The encoding() of a hash in packed form.
  static std::string_view EncodingOfPacked(std::string_view bytes);

  // Appends a run of about `max_bytes` from `cursor` on; 0 begins and 0 ends. A run is 'l' for a
  // listpack or 'h' for a hashtable, then the fields and values, each after its length as a varint.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Adds the fields of a run. Returns false if it is malformed; the hash must then be thrown away.
  [[nodiscard]] bool Load(std::string_view run);
  // For ValueOperations (core/keyspace/value.h); the runs have the form of those of Save().
  bool BeginSnapshot(const RunSink& sink);
  bool SaveSnapshot() { return map_.SaveSnapshot(); }
  void EndSnapshot() { map_.EndSnapshot(); }

 private:
  static constexpr char kListpackRun = 'l';
  static constexpr char kHashtableRun = 'h';

  Hash(CompactMap map, bool beyond_listpack)
      : map_(std::move(map)), beyond_listpack_(beyond_listpack) {}
  void PrepareFor(std::string_view field, std::string_view value, const HashLimits& limits);
  void SettleForm(const HashLimits& limits);
  void UnpackIfLarge(size_t more_bytes);

  CompactMap map_;
  bool beyond_listpack_ = false;
};

}  // namespace tally
