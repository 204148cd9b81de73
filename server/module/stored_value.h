// One of our values as the server keeps it: one pointer. A small value is a block of packed bytes
// (as in the record of a key of tallyd), any other value is the heap value itself. The pointer's
// lowest bit is 1 for packed bytes. A null pointer means that the value has been taken out.
//
// A value may be freed on any thread, because it shares nothing with others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/type.h"
#include "core/time/zone_source.h"

namespace tally::module {

class StoredValue {
 public:
  StoredValue() = default;
  explicit StoredValue(void* raw) : raw_(reinterpret_cast<uintptr_t>(raw)) {}

  // The most bytes that a packed value may have.
  static constexpr size_t kMaxPackedBytes = 253;

  static StoredValue Pack(std::string_view bytes);
  static StoredValue OfHeap(void* value) { return StoredValue(value); }

  void* raw() const { return reinterpret_cast<void*>(raw_); }
  explicit operator bool() const { return raw_ != 0; }
  bool is_packed() const { return (raw_ & kPackedBit) != 0; }
  std::string_view packed() const;
  // Requires a value that is not packed.
  void* heap() const { return raw(); }

  // Replaces the bytes in place. Returns false, and changes nothing, if they need another amount of
  // memory. Requires a packed value.
  [[nodiscard]] bool Repack(std::string_view bytes) const;

  void Free(Type type) const;
  StoredValue Clone(Type type) const;
  size_t MemoryBytes(Type type) const;
  // The number of elements whose freeing takes time; 1 for a packed or null value.
  size_t Weight(Type type) const;
  // The server's allocation of the packed bytes. The value's owner may move it, and then needs
  // OfBlock.
  char* block() const { return reinterpret_cast<char*>(raw_ & ~kPackedBit); }
  // The block as it is saved: the length, the packed bytes, and zeros up to the size of the
  // allocation. So when it is loaded into an allocation of just its size, that is a block.
  std::string SavedBlock() const;
  // Takes over `block`, which must be a block of a packed value; see IsBlock.
  static StoredValue OfBlock(char* block);

 private:
  static constexpr uintptr_t kPackedBit = 1;

  uintptr_t raw_ = 0;
};

// Whether the bytes are those of a packed value of the type.
bool IsPackedValue(Type type, std::string_view bytes);
// Whether the bytes are a SavedBlock() of the type.
bool IsBlock(Type type, std::string_view bytes);

// Makes an empty heap value, into which LoadRun loads runs. The caller owns it.
void* NewHeapValue(Type type, uint64_t seed, ZoneSource& zones);
// False on malformed bytes.
[[nodiscard]] bool LoadRun(Type type, void* value, std::string_view run);

}  // namespace tally::module
