// What an allocation really costs, for honest memory figures.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tally {

// The bytes that an allocator sets aside for a request of `bytes`, by jemalloc's size classes
// (multiples of 16 up to 128, then four classes to each doubling;
// http://jemalloc.net/jemalloc.3.html). glibc adds 8 and rounds up to a multiple of 16, so it
// differs by a few bytes either way. This is a pure function, not malloc_usable_size, so that
// figures do not depend on the allocator of a test build. Returns 0 for 0: nothing is allocated.
constexpr size_t HeapBytes(size_t bytes) {
  if (bytes <= 8) return bytes == 0 ? 0 : 8;
  const size_t spacing = std::max<size_t>(16, std::bit_floor(bytes - 1) / 4);
  return (bytes + spacing - 1) / spacing * spacing;
}

}  // namespace tally
