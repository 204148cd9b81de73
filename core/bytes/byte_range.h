// A part of a string, from byte `begin` up to byte `end`, which is not in it. By default it is the
// whole string.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tally {

struct ByteRange {
  size_t begin = 0;
  size_t end = SIZE_MAX;
};

}  // namespace tally
