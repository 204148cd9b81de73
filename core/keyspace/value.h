// Values that are too large for their key's record are on the heap. These are the operations that
// the keyspace needs for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/type.h"
#include "core/bytes/run_sink.h"

namespace tally {

class List;
class QuotaBook;
class Text;
class ZSet;
class ZoneSource;
struct QuotaExpired;

// The type whose heap values the class T holds.
template <typename T>
inline constexpr Type kTypeOf = T::kType;
template <>
inline constexpr Type kTypeOf<Text> = Type::kString;
template <>
inline constexpr Type kTypeOf<List> = Type::kList;
template <>
inline constexpr Type kTypeOf<ZSet> = Type::kZSet;
template <>
inline constexpr Type kTypeOf<QuotaBook> = Type::kQuota;

// One row of functions for each type. Virtual functions would cost eight bytes in each value.
struct ValueOperations {
  void (*destroy)(void* value);
  // Frees about `budget` elements; returns true when nothing is left: then destroy() is cheap.
  bool (*free_some)(void* value, size_t budget);
  void* (*clone)(const void* value);
  // The number of elements that take time to free.
  size_t (*weight)(const void* value);
  size_t (*memory_bytes)(const void* value);
  std::string_view (*encoding)(const void* value);
  // Appends a self-contained run of about `max_bytes`, from `cursor` on (0 begins), and returns the
  // next cursor; 0 at the end.
  uint64_t (*save)(const void* value, uint64_t cursor, size_t max_bytes, std::string& out);
  // create() makes an empty value, to which load() adds runs. A run may name zones of `zones`,
  // which must outlive the value. load() returns false if the run is malformed.
  void* (*create)(uint64_t seed, ZoneSource& zones);
  bool (*load)(void* value, std::string_view run);
  // Whether a key's record may hold these bytes as a packed value. Null for types whose values are
  // always on the heap.
  bool (*is_packed)(std::string_view bytes) = nullptr;
  // Frees what is out of date, and appends of whom and what to `expired`. Continues where the last
  // call stopped, and stops when it has looked at about `budget` elements. Returns true if the
  // value is empty, so that the key should go. Null for types in which nothing gets out of date
  // before the key expires: only a QUOTA book has it.
  bool (*sweep)(void* value, int64_t now_ms, size_t budget, QuotaExpired& expired) = nullptr;
  // After a load: makes some of what the value keeps beside what is saved, so that no command has
  // to wait for it. Returns false when all of it is made. Null for types that keep nothing beside
  // it; set only with `sweep`.
  bool (*prepare)(void* value) = nullptr;
  // A snapshot saves a large value as it is at begin_snapshot(), while the value goes on changing.
  // `sink` gets runs for load(): the first one from begin_snapshot(), the others from
  // save_snapshot() and before a part of the value changes. save_snapshot() returns false when
  // `sink` has all runs. begin_snapshot() takes no longer than a slice. It returns false, and does
  // nothing, if a value in its present form has no snapshots. Null for types without snapshots.
  bool (*begin_snapshot)(void* value, const RunSink& sink) = nullptr;
  bool (*save_snapshot)(void* value) = nullptr;
  void (*end_snapshot)(void* value) = nullptr;
};

const ValueOperations& OperationsOf(Type type);

}  // namespace tally
