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

// Returns the run at the beginning of `runs`; nullopt if `runs` ends before the run does.
std::optional<SparseRun> ReadSparseRun(std::string_view runs);

// The runs of a string in which all registers are 0.
std::string EmptySparseRuns();

// Calls visit(first register, run) for each run. Returns false unless the runs cover all registers
// exactly.
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

// Raises a register to `value`, in a string whose runs follow a header. Returns kTooLarge, and
// changes nothing, if the string would exceed `max_bytes` or the value is above kMaxSparseValue.
SparseChange RaiseSparse(Text& bytes, size_t index, uint8_t value, size_t max_bytes);

}  // namespace tally::hyperloglog
