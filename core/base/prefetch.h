// Prefetches memory into the processor's cache. Affects nothing but time.
#pragma once

#include <cstddef>

namespace tally {

inline void PrefetchBytes(const void* bytes, size_t size) {
  constexpr size_t kCacheLine = 64;
  const char* line = static_cast<const char*>(bytes);
  for (size_t at = 0; at < size; at += kCacheLine) __builtin_prefetch(line + at);
}

}  // namespace tally
