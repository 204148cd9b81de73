// Blocks of memory that grow in place where they can, from malloc. A program that has an allocator
// of its own for what it counts as data links other definitions of these.
#pragma once

#include <cstddef>

namespace tally {

// A block of `bytes` > 0 with the content of `block`, which may be null, as far as both go; it
// replaces that. Never null: without memory the program ends.
[[nodiscard]] void* ResizeBlock(void* block, size_t bytes);
// Null is no block.
void FreeBlock(void* block);

}  // namespace tally
