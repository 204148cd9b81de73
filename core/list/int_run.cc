#include "core/list/int_run.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/check.h"
#include "core/bytes/bit_field.h"
#include "core/bytes/heap_size.h"

namespace tally::int_run {
namespace {

constexpr size_t kHeader = 2 + sizeof(uint64_t);

size_t AllocationFor(size_t count, unsigned width) {
  return HeapBytes(kHeader + BitFieldBytes(count, width));
}

uint64_t Lowest(const uint8_t* run) {
  uint64_t lowest = 0;
  std::memcpy(&lowest, run + 2, sizeof(lowest));
  return lowest;
}

}  // namespace

uint8_t* New(const int64_t* values, size_t count) {
  Check(count > 0 && count <= kMaxEntries, "a run is short");
  const auto [low, high] = std::minmax_element(values, values + count);
  const auto lowest = static_cast<uint64_t>(*low);
  const auto width = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(*high) - lowest));
  const size_t size = AllocationFor(count, width);
  auto* run = new uint8_t[size]();
  run[0] = static_cast<uint8_t>(count);
  run[1] = static_cast<uint8_t>(width);
  std::memcpy(run + 2, &lowest, sizeof(lowest));
  for (size_t i = 0; i < count; ++i) {
    WriteBitField(run + kHeader, size - kHeader, i, width,
                  static_cast<uint64_t>(values[i]) - lowest);
  }
  return run;
}

uint8_t* Clone(const uint8_t* run) {
  auto* copy = new uint8_t[HeapUse(run)];
  std::memcpy(copy, run, HeapUse(run));
  return copy;
}

int64_t At(const uint8_t* run, size_t i) {
  return static_cast<int64_t>(Lowest(run) +
                              ReadBitField(run + kHeader, HeapUse(run) - kHeader, i, run[1]));
}

void Read(const uint8_t* run, int64_t* out) {
  for (size_t i = 0; i < Size(run); ++i) *out++ = At(run, i);
}

bool TryPushBack(uint8_t* run, int64_t value) {
  const size_t count = Size(run);
  const unsigned width = run[1];
  const uint64_t residual = static_cast<uint64_t>(value) - Lowest(run);
  if (count == kMaxEntries || residual > LowBits(width)) return false;
  // The value may also be far below the base, so that its residual fits by wrapping around. It is
  // read back exactly all the same.
  const size_t size = HeapUse(run);
  if (kHeader + BitFieldBytes(count + 1, width) > size) return false;
  WriteBitField(run + kHeader, size - kHeader, count, width, residual);
  ++run[0];
  return true;
}

size_t HeapUse(const uint8_t* run) { return AllocationFor(Size(run), run[1]); }

}  // namespace tally::int_run
