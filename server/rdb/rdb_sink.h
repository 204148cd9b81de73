// What gets the values of an RDB, as they are read: whoever stores, counts or compares them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/keyspace/keyspace_entry.h"

namespace tally::rdb {

// Why what was read is refused; empty: it is taken. The text must outlive the reader.
using Refusal = std::string_view;

enum class Kind : uint8_t { kString, kList, kSet, kZSet, kHash };

// What is known of a key before its value.
struct KeyHead {
  std::string_view key;
  uint64_t database = 0;
  int64_t deadline_ms = kNoDeadline;  // unix ms
  std::optional<uint64_t> idle_seconds;
  std::optional<uint8_t> frequency;  // the logarithmic counter of LFU
  uint64_t offset = 0;               // where it was read
};

class RdbSink {
 public:
  // The keys that follow are in this database.
  virtual Refusal Database(uint64_t database) = 0;
  // The database will have about this many keys. Nothing vouches for the number.
  virtual void KeyCount(uint64_t keys) { (void)keys; }
  // What the file says of itself.
  virtual void Aux(std::string_view name, std::string_view value) { (void)name, (void)value; }

  // A key begins. Then come its Text (for kString), Elements (kList, kSet), Scored members (kZSet)
  // or Fields (kHash), each with one call, and End. Views are valid during the call.
  virtual Refusal Begin(const KeyHead& head, Kind kind) = 0;
  virtual Refusal Text(std::string_view text) = 0;
  virtual Refusal Element(std::string_view element) = 0;
  // A Text or an Element that is the decimal text of an integer.
  virtual Refusal Number(int64_t number) = 0;
  // The score is not NaN.
  virtual Refusal Scored(std::string_view member, double score) = 0;
  // `deadline_ms`, in unix ms, is that of the field alone; kNoDeadline if it has none.
  virtual Refusal Field(std::string_view field, std::string_view value, int64_t deadline_ms) = 0;
  virtual Refusal End() = 0;

  // The value of a key that a module has written; with a null `head`, what it keeps beside keys.
  // `name` is the type's, of nine characters. If this returns true, the parts follow and then End;
  // otherwise they are skipped, and Skipped is not called.
  virtual bool BeginModule(const KeyHead* head, std::string_view name, uint64_t version) = 0;
  virtual Refusal ModuleText(std::string_view text) = 0;
  virtual Refusal ModuleNumber(uint64_t number) = 0;

  // Something was skipped that has no type here: "stream", "function library". `name` is that of
  // the key or of the thing.
  virtual void Skipped(std::string_view kind, uint64_t database, std::string_view name) = 0;

  // All has come. What the sink has kept back until now can still be refused.
  virtual Refusal Flush() { return {}; }

 protected:
  ~RdbSink() = default;
};

}  // namespace tally::rdb
