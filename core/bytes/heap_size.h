// What an allocation really costs, for honest memory figures.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace tally {

// The bytes an allocator sets aside for a request of `bytes`: jemalloc's size classes (multiples of
// 16 up to 128, then four classes to each doubling; http://jemalloc.net/jemalloc.3.html). glibc
// rounds to multiples of 16 after adding 8, so it differs by a few bytes either way. A pure
// function rather than malloc_usable_size, so that figures do not depend on the allocator that a
// test build brings. 0 for 0: nothing was asked for.
constexpr size_t HeapBytes(size_t bytes) {
  if (bytes <= 8) return bytes == 0 ? 0 : 8;
  const size_t spacing = std::max<size_t>(16, std::bit_floor(bytes - 1) / 4);
  return (bytes + spacing - 1) / spacing * spacing;
}

}  // namespace tally
