// Values that have been read and wait to be stored. They are stored several at once, so that the
// cache misses of their insertions overlap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/type.h"
#include "core/keyspace/keyspace.h"
#include "server/rdb/rdb_sink.h"

namespace tally::rdb {

class ValueBatch {
 public:
  ValueBatch() = default;
  ~ValueBatch() { Clear(); }
  ValueBatch(const ValueBatch&) = delete;
  ValueBatch& operator=(const ValueBatch&) = delete;

  // Copy the key and the bytes; a heap value belongs to the batch from then on.
  void AddText(const KeyHead& head, std::string_view text);
  void AddInteger(const KeyHead& head, int64_t number);
  void AddPacked(const KeyHead& head, Type type, std::string_view bytes);
  void AddHeap(const KeyHead& head, Type type, void* value);

  bool empty() const { return values_.empty(); }
  // Whether it should be stored before more is added.
  bool full() const { return values_.size() == kMostValues || bytes_.size() >= kMostBytes; }
  // Removes what their keys hold, as any command does that removes a key and creates it.
  void RemoveOld(Keyspace& keyspace, int64_t now_ms) const;
  // Stores all values, and leaves none. Returns the first key that was there already, and the
  // offset at which it was read; nothing if all were new. Such a key is replaced.
  struct Known {
    std::string key;
    uint64_t offset = 0;
  };
  std::optional<Known> Store(Keyspace& keyspace, int64_t now_ms);

 private:
  static constexpr size_t kMostValues = RecordTable::kMaxPrefetch;
  static constexpr size_t kMostBytes = size_t{64} << 10;

  enum class Form : uint8_t { kPacked, kText, kInteger, kHeap };
  struct Value {
    Type type;
    Form form;
    size_t key_begin;  // in bytes_, where the value's own bytes follow the key
    size_t key_size;
    size_t size;
    int64_t number;
    void* heap;  // null but for kHeap
    int64_t deadline_ms;
    uint64_t offset;
    std::optional<uint64_t> idle_seconds;
    std::optional<uint8_t> frequency;
  };

  Value& Add(const KeyHead& head, Type type, Form form, std::string_view bytes);
  std::string_view KeyOf(const Value& value) const {
    return std::string_view(bytes_).substr(value.key_begin, value.key_size);
  }
  void StoreOne(Value& value, Keyspace& keyspace, int64_t now_ms);
  void Clear();

  std::vector<Value> values_;
  std::string bytes_;
};

}  // namespace tally::rdb
