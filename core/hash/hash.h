// The hash value: fields with values, both byte strings. Packed in one allocation while small, in
// the order of insertion; a table of packed records beyond. Integers and hexadecimal ids are held
// in binary in both (core/bytes/compact_text.h).
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
#include "core/table/compact_map.h"

namespace tally {

// What a hash may hold and still be called a listpack (hash-max-listpack-entries,
// hash-max-listpack-value); the size is that of a field or a value.
struct HashLimits {
  size_t max_fields = 512;
  size_t max_size = 64;
};

// Costs are O(1) on a table and O(bytes) while packed, unless said otherwise; n is size().
class Hash {
 public:
  static constexpr Type kType = Type::kHash;
  // Hashes up to this are worth copying for each command and are in the key's record.
  static constexpr size_t kMaxPackedBytes = 128;

  // A value, still coded; lives until the hash changes.
  class Value {
   public:
    explicit Value(std::string_view code) : code_(code) {}
    std::optional<int64_t> integer() const { return IntegerOfCode(code_); }
    PlainText text() const { return PlainText(code_); }

   private:
    std::string_view code_;
  };

  // The views live only during the call, which must not change the hash.
  using Visitor = absl::FunctionRef<void(std::string_view field, std::string_view value)>;
  using Random = CompactMap::Random;

  // `seed` is of the fields' hash: random, and not known to clients.
  explicit Hash(uint64_t seed) : map_(seed, CompactMap::Shape::kPairs) {}
  // O(n).
  Hash Clone() const { return {map_.Clone(), beyond_listpack_}; }

  size_t size() const { return map_.size(); }
  bool empty() const { return size() == 0; }

  std::optional<Value> Find(std::string_view field) const;

  // Adds the field, or gives it another value where it is. True if it was added.
  bool Set(std::string_view field, std::string_view value, const HashLimits& limits);

  enum class IncrementStatus : uint8_t { kOk, kNotInteger, kOverflow };
  struct IncrementResult {
    IncrementStatus status;
    int64_t value;  // afterwards; 0 unless kOk
  };
  // Adds `delta` to the field's value, 0 if it is absent. Nothing changes unless kOk.
  IncrementResult Increment(std::string_view field, int64_t delta, const HashLimits& limits);

  // True if the field was there.
  bool Erase(std::string_view field) { return map_.Erase(CompactText(field).code()); }

  // All fields, while packed in the order of insertion.
  void ForEach(Visitor visit) const;

  // A step of an iteration; see CompactMap::Scan for what it promises.
  uint64_t Scan(uint64_t cursor, size_t count, Visitor visit) const;

  // One field, chosen nearly uniformly; the hash is not empty.
  void Sample(uint64_t random, Visitor visit) const;
  // `count` of them, one after the other: one may come several times.
  void SampleRepeated(size_t count, Random random, Visitor visit) const;
  // `count` <= size() different fields. O(count), or O(n) for more than a hundredth of all.
  void SampleDistinct(size_t count, Random random, Visitor visit) const;

  // OBJECT ENCODING: "listpack" within the limits, "hashtable" ever after, as Redis calls what it
  // holds itself in these cases. A hash of a few long values is called a hashtable although it is
  // packed: clients know by that name that the limits were exceeded.
  std::string_view encoding() const { return beyond_listpack_ ? "hashtable" : "listpack"; }

  // What it has allocated, beside itself. O(1).
  size_t MemoryBytes() const { return map_.MemoryBytes(); }

  // Frees about `count` fields; true when nothing is left. Once begun, the hash may only be freed
  // further or destroyed.
  bool FreeSome(size_t count) { return map_.FreeSome(count); }

  // Makes it empty, but keeps room: for one that is loaded again and again.
  void Clear() { Check(LoadPacked({&kListpackRun, 1}), "an empty hash is well formed"); }
  // What the key's record holds of a small hash: 'l' or 'h' as in a run, then for each field its
  // code and that of its value, each after its length. False, with something appended perhaps, if
  // the hash is too large for that.
  [[nodiscard]] bool SavePacked(std::string& out) const;
  // Holds these bytes' fields instead of its own. False if they are malformed: but that each cell
  // is a code is left to IsPacked, for bytes that come from elsewhere. O(bytes).
  [[nodiscard]] bool LoadPacked(std::string_view bytes);
  static bool IsPacked(std::string_view bytes);
  // OBJECT ENCODING of packed bytes.
  static std::string_view EncodingOfPacked(std::string_view bytes);

  // Appends a run of about `max_bytes` from `cursor` on; 0 begins and 0 ends. A run is 'l' for a
  // listpack or 'h' for a hashtable, then fields and values, each after its length as a varint.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;
  // Adds what a run holds. False if it is malformed; the hash is to be thrown away then.
  [[nodiscard]] bool Load(std::string_view run);
  // What ValueOperations asks for: runs as those of Save.
  bool BeginSnapshot(const CompactMap::RunSink& sink);
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
