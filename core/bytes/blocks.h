// Blocks of memory from malloc, which grow in place if they can. A program that must count its data
// in an allocator of its own links other definitions of these functions.
#pragma once

#include <cstddef>

namespace tally {

// Resizes `block` to `bytes` > 0, or allocates a new block if `block` is null. Keeps the content up
// to the smaller of the two sizes; `block` is not valid afterwards. Never returns null: if there is
// no memory, the program ends.
[[nodiscard]] void* ResizeBlock(void* block, size_t bytes);
// `block` may be null.
void FreeBlock(void* block);

}  // namespace tally
