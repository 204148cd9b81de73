#include "core/bytes/counted_block.h"

#include <atomic>
#include <new>

#include "core/bytes/blocks.h"

namespace tally {
namespace {

// What the count takes of the memory. It keeps the bytes aligned.
constexpr size_t kOwnersBytes = 16;

using Owners = std::atomic<uint32_t>;

Owners& OwnersOf(const char* block) {
  return *reinterpret_cast<Owners*>(const_cast<char*>(block) - kOwnersBytes);
}

}  // namespace

namespace counted_block {

char* New(size_t bytes) {
  char* const memory = static_cast<char*>(ResizeBlock(nullptr, kOwnersBytes + bytes));
  new (memory) Owners(1);
  return memory + kOwnersBytes;
}

char* Resize(char* block, size_t bytes) {
  return kOwnersBytes + static_cast<char*>(ResizeBlock(block - kOwnersBytes, kOwnersBytes + bytes));
}

bool IsShared(const char* block) { return OwnersOf(block).load(std::memory_order_acquire) > 1; }

void AddOwner(const char* block) { OwnersOf(block).fetch_add(1, std::memory_order_relaxed); }

void RemoveOwner(const char* block) {
  if (OwnersOf(block).fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  FreeBlock(const_cast<char*>(block) - kOwnersBytes);
}

}  // namespace counted_block

ElementBlock::ElementBlock(size_t bytes)
    : word_(bytes < ElementView::kShareable
                ? reinterpret_cast<uintptr_t>(new char[bytes])
                : reinterpret_cast<uintptr_t>(counted_block::New(bytes)) | kCounted) {}

void ElementBlock::Free() {
  if (block() != nullptr) return counted_block::RemoveOwner(get());
  delete[] get();
}

}  // namespace tally
