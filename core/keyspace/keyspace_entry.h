// An entry of a keyspace: the place of a key, its type, deadline, access mark and value.
//
// A key's record (see RecordTable) has this payload:
//   1 byte   type (low 4 bits), has-deadline, storage (2 bits), raw
//   3 bytes  access mark
//   8 bytes  deadline, unix ms, if it has one
//   value    bytes of a short string or of another packed value; or an int64; or a heap pointer
// With the record's two length bytes, a counter with a deadline costs 22 bytes beside its key and
// its place in the index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/base/check.h"
#include "core/base/type.h"
#include "core/keyspace/value.h"
#include "core/table/record_table.h"

namespace tally {

inline constexpr int64_t kNoDeadline = INT64_MAX;

// Valid until the next call that changes the keyspace. False in a condition if there is no such
// key. All calls are O(1).
class KeyspaceEntry {
 public:
  KeyspaceEntry() = default;
  explicit operator bool() const { return static_cast<bool>(record_); }

  std::string_view key() const { return record_.key(); }
  Type type() const { return static_cast<Type>(bits() & kTypeMask); }
  // Unix ms; kNoDeadline if it has none.
  int64_t deadline_ms() const {
    return has_deadline() ? Load<int64_t>(record_.data() + 4) : kNoDeadline;
  }
  bool expired(int64_t now_ms) const { return has_deadline() && deadline_ms() <= now_ms; }
  // 24 bits: see access.h.
  uint32_t access() const {
    uint32_t mark = 0;
    std::memcpy(&mark, record_.data() + 1, 3);
    return mark;
  }
  void set_access(uint32_t mark) { std::memcpy(record_.data() + 1, &mark, 3); }

  bool is_integer() const { return storage() == Storage::kInteger; }
  bool is_heap() const { return storage() == Storage::kHeap; }
  // Whether the string has been changed in place: OBJECT ENCODING then reports raw.
  bool is_raw() const { return (bits() & kRawBit) != 0; }
  int64_t integer() const;
  // Requires is_integer() (asserted), as integer() does.
  void set_integer(int64_t value);
  // The bytes of a string that is no integer, or of a packed value.
  std::string_view bytes() const;
  // The heap value. Requires is_heap() and that T is the class of type() (asserted).
  template <typename T>
  T& heap() const {
    Check(is_heap() && type() == kTypeOf<T>, "the entry holds a heap value of this type");
    return *static_cast<T*>(pointer());
  }
  // The same without the type. Requires is_heap() (not checked).
  void* pointer() const { return Load<void*>(value()); }

 private:
  friend class Keyspace;
  enum class Storage : uint8_t { kBytes = 0, kInteger = 1, kHeap = 2 };
  static constexpr uint8_t kTypeMask = 0x0F;
  static constexpr uint8_t kDeadlineBit = 0x10;
  static constexpr int kStorageShift = 5;
  static constexpr uint8_t kRawBit = 0x80;

  template <typename T>
  static T Load(const char* from) {
    T loaded;
    std::memcpy(&loaded, from, sizeof loaded);
    return loaded;
  }

  explicit KeyspaceEntry(const RecordTable::Record& record) : record_(record) {}
  uint8_t bits() const { return static_cast<uint8_t>(record_.data()[0]); }
  bool has_deadline() const { return (bits() & kDeadlineBit) != 0; }
  Storage storage() const { return static_cast<Storage>((bits() >> kStorageShift) & 3); }
  size_t value_offset() const { return has_deadline() ? 12 : 4; }
  char* value() const { return record_.data() + value_offset(); }

  RecordTable::Record record_;
};

}  // namespace tally
