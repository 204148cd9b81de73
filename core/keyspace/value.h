// Values too large for a key's record live on the heap; this is what the keyspace asks of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/type.h"

namespace tally {

class List;
class QuotaBook;
class Text;
class ZSet;
class ZoneSource;

// Which class holds the heap values of which type.
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

// One row for each type, so that the keyspace needs no virtual calls and no eight bytes a value.
struct ValueOperations {
  void (*destroy)(void* value);
  // Frees a slice of about `budget` elements; true when nothing is left, then destroy() is cheap.
  bool (*free_some)(void* value, size_t budget);
  void* (*clone)(const void* value);
  // Elements, as far as freeing them takes time.
  size_t (*weight)(const void* value);
  size_t (*memory_bytes)(const void* value);
  std::string_view (*encoding)(const void* value);
  // Appends a self-contained run of about `max_bytes` from `cursor` on; 0 begins and 0 ends.
  uint64_t (*save)(const void* value, uint64_t cursor, size_t max_bytes, std::string& out);
  // A value to load() runs into, which may name zones; false on malformed bytes.
  void* (*create)(uint64_t seed, ZoneSource& zones);
  bool (*load)(void* value, std::string_view run);
  // Whether a key's record may hold these bytes as a packed value. Null for types that are always
  // on the heap.
  bool (*is_packed)(std::string_view bytes) = nullptr;
  // Frees what is out of date, going on where the last call stopped, until it has looked at about
  // `budget` elements; true when nothing is left that the key should live for. Null for types in
  // which nothing ages before its key does.
  bool (*sweep)(void* value, int64_t now, size_t budget) = nullptr;
  // A snapshot of a large value as it is when it begins, taken while it goes on changing. `sink`
  // gets runs that load() reads, the first of them at once, the others with each call of
  // save_snapshot(), which is false when all are given, and whenever something is about to change.
  // begin_snapshot() takes no longer than a slice; it is false, and has done nothing, for a value
  // that cannot be saved so in its present form. Null for types of which none can.
  using RunSink = std::function<void(std::string_view run)>;
  bool (*begin_snapshot)(void* value, const RunSink& sink) = nullptr;
  bool (*save_snapshot)(void* value) = nullptr;
  void (*end_snapshot)(void* value) = nullptr;
};

const ValueOperations& OperationsOf(Type type);

}  // namespace tally
