// Has operator new and delete, and the blocks of core/mem/, use the server's allocator, so that
// maxmemory, MEMORY and eviction count the memory of the module's values. Only the bitmaps of
// CRoaring use malloc.
//
// Static objects are made before the server has given us its functions. Their memory comes from a
// small block of our own and is never freed.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "core/bytes/blocks.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

constexpr size_t kAlignment = alignof(std::max_align_t);

class EarlyBlock {
 public:
  void* Take(size_t bytes) {
    const size_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    if (rounded > bytes_.size() - used_) {
      std::fputs("tally: no memory before the module is loaded\n", stderr);
      std::abort();
    }
    void* taken = bytes_.data() + used_;
    used_ += rounded;
    return taken;
  }
  bool Holds(const void* memory) const {
    const auto address = reinterpret_cast<uintptr_t>(memory);
    const auto begin = reinterpret_cast<uintptr_t>(bytes_.data());
    return address - begin < bytes_.size();
  }
  // Returns at least the number of bytes that were taken at `memory`.
  size_t BytesFrom(const void* memory) const {
    return static_cast<size_t>(bytes_.data() + used_ - static_cast<const char*>(memory));
  }

 private:
  alignas(kAlignment) std::array<char, size_t{64} << 10> bytes_{};
  size_t used_ = 0;
};

constinit EarlyBlock g_early;

void* Allocate(size_t bytes) {
  const auto allocate = redis::Functions().Alloc;
  return allocate != nullptr ? allocate(std::max<size_t>(bytes, 1)) : g_early.Take(bytes);
}

void Free(void* memory) {
  if (memory == nullptr || g_early.Holds(memory)) return;
  redis::Functions().Free(memory);
}

void* Reallocate(void* memory, size_t bytes) {
  if (memory == nullptr) return Allocate(bytes);
  if (!g_early.Holds(memory)) return redis::Functions().Realloc(memory, std::max<size_t>(bytes, 1));
  void* moved = Allocate(bytes);
  std::memcpy(moved, memory, std::min(bytes, g_early.BytesFrom(memory)));
  return moved;
}

// Stores a pointer to the begin of the block right before the memory that it returns.
void* AllocateAligned(size_t bytes, size_t alignment) {
  char* block = static_cast<char*>(Allocate(bytes + alignment + sizeof(void*)));
  const auto begin = reinterpret_cast<uintptr_t>(block) + sizeof(void*);
  const size_t skipped = (alignment - begin % alignment) % alignment;
  char* memory = block + sizeof(void*) + skipped;
  std::memcpy(memory - sizeof(void*), &block, sizeof block);
  return memory;
}

void FreeAligned(void* memory) {
  if (memory == nullptr) return;
  void* block = nullptr;
  std::memcpy(&block, static_cast<char*>(memory) - sizeof block, sizeof block);
  Free(block);
}

}  // namespace
}  // namespace tally::module

using tally::module::Allocate;
using tally::module::AllocateAligned;
using tally::module::FreeAligned;

void* operator new(size_t bytes) { return Allocate(bytes); }
void* operator new[](size_t bytes) { return Allocate(bytes); }
void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void* operator new[](size_t bytes, const std::nothrow_t&) noexcept { return Allocate(bytes); }
void operator delete(void* memory) noexcept { tally::module::Free(memory); }
void operator delete[](void* memory) noexcept { tally::module::Free(memory); }
void operator delete(void* memory, size_t) noexcept { tally::module::Free(memory); }
void operator delete[](void* memory, size_t) noexcept { tally::module::Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { tally::module::Free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  tally::module::Free(memory);
}

void* operator new(size_t bytes, std::align_val_t alignment) {
  return AllocateAligned(bytes, static_cast<size_t>(alignment));
}
void* operator new[](size_t bytes, std::align_val_t alignment) {
  return AllocateAligned(bytes, static_cast<size_t>(alignment));
}
void operator delete(void* memory, std::align_val_t) noexcept { FreeAligned(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { FreeAligned(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { FreeAligned(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { FreeAligned(memory); }

namespace tally {

void* ResizeBlock(void* block, size_t bytes) { return module::Reallocate(block, bytes); }
void FreeBlock(void* block) { module::Free(block); }

}  // namespace tally
