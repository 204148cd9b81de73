#include "core/bytes/blocks.h"

#include <cstdlib>

#include "core/base/check.h"

namespace tally {

void* ResizeBlock(void* block, size_t bytes) {
  void* resized = std::realloc(block, bytes);
  Check(resized != nullptr, "memory for a block");
  return resized;
}

void FreeBlock(void* block) { std::free(block); }

}  // namespace tally
