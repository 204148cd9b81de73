// The sparse form of a HyperLogLog: runs of equal registers.
//   00nnnnnn            n + 1 registers are 0                    (up to 64)
//   01nnnnnn nnnnnnnn   n + 1 registers are 0                    (up to 16384)
//   1vvvvvnn            n + 1 registers are v + 1                (up to 4, of up to 32)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/hyperloglog/hyperloglog.h"

namespace tally::hyperloglog {

inline constexpr uint8_t kMaxSparseValue = 32;

struct SparseRun {
  size_t length;  // in registers
  uint8_t value;
  size_t bytes;  // 1 or 2
};

// The run at the beginning of `runs`; nothing if it is cut off.
std::optional<SparseRun> ReadSparseRun(std::string_view runs);

// All registers are 0.
std::string EmptySparseRuns();

// Calls visit(first register, run) for each run. False unless they cover exactly all registers.
template <typename Visit>
[[nodiscard]] bool ForEachSparseRun(std::string_view runs, Visit&& visit) {
  size_t first = 0;
  while (!runs.empty()) {
    const std::optional<SparseRun> run = ReadSparseRun(runs);
    if (!run || run->length > kRegisters - first) return false;
    visit(first, *run);
    first += run->length;
    runs.remove_prefix(run->bytes);
  }
  return first == kRegisters;
}

enum class [[nodiscard]] SparseChange { kNone, kChanged, kTooLarge, kMalformed };

// Raises a register to `value`, in a string whose runs follow a header. Nothing is changed when the
// string would outgrow `max_bytes` or the value is above kMaxSparseValue (kTooLarge).
SparseChange RaiseSparse(Text& bytes, size_t index, uint8_t value, size_t max_bytes);

}  // namespace tally::hyperloglog
