// A value of ours as the server keeps it: one pointer. Small values are packed bytes (as in the
// record of a key of tallyd), others the heap value itself; the pointer's lowest bit says which. A
// null pointer is a value that has been taken out, and stands for nothing.
//
// Freeing may happen on any thread: a value shares nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/type.h"
#include "core/time/zone_source.h"

namespace tally::module {

class StoredValue {
 public:
  StoredValue() = default;
  explicit StoredValue(void* raw) : raw_(reinterpret_cast<uintptr_t>(raw)) {}

  static StoredValue Pack(std::string_view bytes);
  static StoredValue OfHeap(void* value) { return StoredValue(value); }

  void* raw() const { return reinterpret_cast<void*>(raw_); }
  explicit operator bool() const { return raw_ != 0; }
  bool is_packed() const { return (raw_ & kPackedBit) != 0; }
  std::string_view packed() const;
  // Of a value that is not packed.
  void* heap() const { return raw(); }

  // Puts other bytes in, if they take as much memory. Requires a packed value.
  [[nodiscard]] bool Repack(std::string_view bytes) const;

  void Free(Type type) const;
  StoredValue Clone(Type type) const;
  size_t MemoryBytes(Type type) const;
  // Elements, as far as freeing them takes time.
  size_t Weight(Type type) const;
  // The packed bytes' allocation, to be moved elsewhere by whoever owns the value.
  char* block() const { return reinterpret_cast<char*>(raw_ & ~kPackedBit); }
  static StoredValue OfBlock(char* block);

 private:
  static constexpr uintptr_t kPackedBit = 1;

  uintptr_t raw_ = 0;
};

// Whether the bytes are those of a packed value of the type.
bool IsPackedValue(Type type, std::string_view bytes);

// An empty heap value that runs are loaded into.
void* NewHeapValue(Type type, uint64_t seed, ZoneSource& zones);
// False on malformed bytes.
[[nodiscard]] bool LoadRun(Type type, void* value, std::string_view run);

}  // namespace tally::module
