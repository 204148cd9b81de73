// Empties strings that are used again and again, and gives their memory back.
#pragma once

#include <cstddef>
#include <string>

namespace tally {

// Empties `text`. Frees its heap bytes if its capacity is above `kept_capacity` bytes. O(1).
//
// `text = {}` and `text = std::string()` must not be used for this: in libstdc++ they keep the
// capacity of `text`.
inline void Recycle(std::string& text, size_t kept_capacity = 0) {
  if (text.capacity() > kept_capacity) {
    std::string().swap(text);
  } else {
    text.clear();
  }
}

}  // namespace tally
