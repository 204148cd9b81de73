// A map of byte strings that is packed in one allocation while it is small, and a RecordTable when
// it is large: the common base of hashes and sets. Keys and values are codes
// (core/bytes/compact_text.h).
//
// The owner decides when the map becomes large (Unpack); after that only AssignPacked makes it
// packed again. A packed map keeps the order of insertion, and its operations take O(bytes). In a
// table they take O(1) per key.
#pragma once

#include <absl/functional/function_ref.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/bytes/counted_block.h"
#include "core/bytes/run_sink.h"
#include "core/table/packed_cells.h"
#include "core/table/record_table.h"

namespace tally {

class CompactMap {
 public:
  // In a map of keys all values are empty, and take no space.
  enum class Shape : uint8_t { kKeys, kPairs };
  // Must not change the map. The views live until it changes.
  using Visitor = absl::FunctionRef<void(const ElementView& key, const ElementView& value)>;
  // Returns false to stop.
  using StoppingVisitor = absl::FunctionRef<bool(const ElementView& key, const ElementView& value)>;
  using Random = absl::FunctionRef<uint64_t()>;

  // `seed` is the seed of the keys' hash: random, and not known to clients.
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
  // Makes it a packed map of these contents; reuses the allocation if the map is packed and they
  // fit. Returns false, and the map is empty, if they are malformed. O(bytes).
  [[nodiscard]] bool AssignPacked(std::string_view contents);

  // The value of a key, nullopt if the key is absent. The view lives until the map changes.
  std::optional<ElementView> Find(std::string_view key) const;
  // The same for changing the value in place; only for kPairs. data() is null if the key is absent.
  std::span<char> FindMutable(std::string_view key);

  // Adds the key, or replaces its value; a packed map keeps the order. Returns true if the key was
  // added. `key` and `value` must not lie in the map.
  bool Set(std::string_view key, std::string_view value);
  bool Erase(std::string_view key);

  // Makes it a table. O(n).
  void Unpack();

  void ForEach(StoppingVisitor visit) const;

  // One step of an iteration. The first step takes cursor 0, and the iteration is over when 0 is
  // returned; cursors are below 2^48. A key that is in the map during the whole iteration is
  // visited exactly once, whatever changes between the steps. One step visits all of a packed map.
  uint64_t Scan(uint64_t cursor, size_t count, Visitor visit) const;

  // Visits one key, chosen nearly uniformly. The map must not be empty (asserted).
  void Sample(uint64_t random, Visitor visit) const;
  // Chooses `count` times like Sample, so a key may be visited several times.
  void SampleRepeated(size_t count, Random random, Visitor visit) const;
  // Visits `count` different keys, at most size() (asserted). They are chosen nearly uniformly, but
  // their order is not random. O(count), or O(n) if the map is packed or `count` is above n / 100.
  void SampleDistinct(size_t count, Random random, Visitor visit) const;

  // Frees about `count` elements; returns true when nothing is left. After the first call the map
  // may only be freed further or destroyed.
  bool FreeSome(size_t count);

  // Heap bytes of the map, without the object itself and a snapshot under way. O(1).
  size_t MemoryBytes() const;

  // Appends the texts of keys and values, each after its length, until there are `max_bytes` or
  // somewhat more; of a packed map always all. Begins at `cursor` and returns the next one: 0
  // begins, and 0 is returned at the end.
  uint64_t Save(uint64_t cursor, size_t max_bytes, std::string& out) const;

  // See ValueOperations::begin_snapshot. Runs begin with the byte `kind`. BeginSnapshot returns
  // false for a packed map.
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
  // To be called during a snapshot before the key changes or is added; `record` is empty if the key
  // is added.
  void BeforeChange(RecordTable::Segment& segment, std::string_view key,
                    const RecordTable::Record& record);
  void SaveRecord(const RecordTable::Record& record);

  PackedCells cells_;
  std::unique_ptr<Table> table_;
  uint64_t seed_;
  Shape shape_;
};

}  // namespace tally
