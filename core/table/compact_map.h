// A map of byte strings that is packed in one allocation while small and a RecordTable beyond: what
// hashes and sets have in common. Keys and values are codes (core/bytes/compact_text.h).
//
// The owner says when the map is large (Unpack); it never becomes small again. Packed, it keeps the
// order of insertion, and everything takes O(bytes); a table takes O(1) a key.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/table/packed_cells.h"
#include "core/table/record_table.h"

namespace tally {

class CompactMap {
 public:
  // In a map of keys all values are empty, and take no space.
  enum class Shape : uint8_t { kKeys, kPairs };
  // Must not change the map. The views live until it changes.
  using Visitor = absl::FunctionRef<void(std::string_view key, std::string_view value)>;
  // Returns false to stop.
  using StoppingVisitor = absl::FunctionRef<bool(std::string_view key, std::string_view value)>;
  using Random = absl::FunctionRef<uint64_t()>;

  // `seed` is of the keys' hash: random, and not known to clients.
  CompactMap(uint64_t seed, Shape shape);
  CompactMap(CompactMap&&) noexcept;
  CompactMap& operator=(CompactMap&&) noexcept;
  ~CompactMap();
  CompactMap Clone() const;

  size_t size() const;
  bool packed() const { return table_ == nullptr; }
  // While packed: bytes of keys and values with their lengths.
  size_t packed_bytes() const { return cells_.bytes(); }
  // While packed: all keys and values, for AssignPacked.
  std::string_view packed_contents() const { return cells_.contents(); }
  // Makes it a packed map of these contents, and keeps its allocation for them if that is packed
  // already. False, and it is empty, if they are malformed. O(bytes).
  [[nodiscard]] bool AssignPacked(std::string_view contents);

  // The value of a key; lives until the map changes.
  std::optional<std::string_view> Find(std::string_view key) const;
  // The same, to be changed in place. No data() if the key is absent.
  std::span<char> FindMutable(std::string_view key);

  // Adds the key, or gives it another value, where it is. True if it was added. Neither may lie
  // in the map.
  bool Set(std::string_view key, std::string_view value);
  bool Erase(std::string_view key);

  // Makes it a table. O(n).
  void Unpack();

  void ForEach(StoppingVisitor visit) const;

  // One step of an iteration: begins with cursor 0, is over when 0 is returned; cursors are below
  // 2^48. A key that is in the map all the while is visited exactly once, whatever changes between
  // the steps (at least once if the map was packed when it began: that is visited whole).
  uint64_t Scan(uint64_t cursor, size_t count, Visitor visit) const;

  // Visits one key, chosen nearly uniformly; the map is not empty.
  void Sample(uint64_t random, Visitor visit) const;
  // Visits `count` keys chosen so, one after the other: a key may come several times.
  void SampleRepeated(size_t count, Random random, Visitor visit) const;
  // Visits `count` <= size() different keys, chosen nearly uniformly, in no random order. O(count),
  // or O(n) if that is more than a hundredth of all.
  void SampleDistinct(size_t count, Random random, Visitor visit) const;

  // Frees about `count` elements; true when nothing is left. Once begun, the map may only be freed
  // further or destroyed.
  bool FreeSome(size_t count);

  // What it has allocated, beside itself. O(1).
  size_t MemoryBytes() const;

  // Appends the texts of keys and values, each after its length, from `cursor` on: until
  // `max_bytes` are reached or somewhat more, a packed map whole. 0 begins and 0 ends.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;

  // What ValueOperations asks for; runs begin with `kind`. Not of a packed map.
  using RunSink = std::function<void(std::string_view run)>;
  bool BeginSnapshot(char kind, const RunSink& sink);
  bool SaveSnapshot();
  void EndSnapshot();

 private:
  struct Snapshot;
  struct Table;

  size_t stride() const { return shape_ == Shape::kPairs ? 2 : 1; }
  // The value of the key at that place.
  std::string_view ValueAt(PackedCells::Position key) const;
  bool SetPacked(std::string_view key, std::string_view value);
  bool SetInTable(std::string_view key, std::string_view value);
  void AppendTexts(std::string_view key, std::string_view value, std::string& out) const;
  // During a snapshot: the key is about to change, or to be added: then there is no record.
  void BeforeChange(RecordTable::Segment& segment, std::string_view key,
                    const RecordTable::Record& record);
  void SaveSegment(RecordTable::Segment& segment);
  void SaveRecord(const RecordTable::Record& record);

  PackedCells cells_;
  std::unique_ptr<Table> table_;
  uint64_t seed_;
  Shape shape_;
};

}  // namespace tally
