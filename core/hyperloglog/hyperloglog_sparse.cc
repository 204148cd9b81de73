#include "core/hyperloglog/hyperloglog_sparse.h"

#include <algorithm>

#include "core/bytes/text.h"

namespace tally::hyperloglog {
namespace {

constexpr size_t kMaxZeros = 64;
constexpr size_t kMaxValues = 4;
// From the run before a change on, this many runs may have become equal to a neighbour.
constexpr int kRunsToMerge = 5;

constexpr uint8_t kValueBit = 0x80;
constexpr uint8_t kLongZerosBit = 0x40;

bool IsValue(char code) { return (static_cast<uint8_t>(code) & kValueBit) != 0; }

void AppendValues(std::string& out, uint8_t value, size_t length) {
  if (length == 0) return;
  out.push_back(static_cast<char>(kValueBit | (value - 1) << 2 | (length - 1)));
}

void AppendZeros(std::string& out, size_t length) {
  if (length == 0) return;
  if (length > kMaxZeros) {
    out.push_back(static_cast<char>(kLongZerosBit | (length - 1) >> 8));
    out.push_back(static_cast<char>(length - 1));
  } else {
    out.push_back(static_cast<char>(length - 1));
  }
}

void AppendRun(std::string& out, uint8_t value, size_t length) {
  value == 0 ? AppendZeros(out, length) : AppendValues(out, value, length);
}

// Joins neighbouring runs of the same value, other than 0, from the run at `at` on.
void MergeRuns(Text& bytes, size_t at) {
  for (int runs = kRunsToMerge; runs > 0 && at < bytes.size(); --runs) {
    if (!IsValue(bytes[at])) {
      at += (static_cast<uint8_t>(bytes[at]) & kLongZerosBit) != 0 ? 2 : 1;
      continue;
    }
    if (at + 1 < bytes.size() && IsValue(bytes[at + 1])) {
      const auto left = *ReadSparseRun({&bytes[at], 1});
      const auto right = *ReadSparseRun({&bytes[at + 1], 1});
      if (left.value == right.value && left.length + right.length <= kMaxValues) {
        std::string merged;
        AppendValues(merged, left.value, left.length + right.length);
        bytes.Replace(at, 2, merged);
        continue;
      }
    }
    ++at;
  }
}

}  // namespace

std::optional<SparseRun> ReadSparseRun(std::string_view runs) {
  if (runs.empty()) return std::nullopt;
  const auto code = static_cast<uint8_t>(runs[0]);
  if ((code & kValueBit) != 0) {
    return SparseRun{size_t{code & 3u} + 1, static_cast<uint8_t>(((code >> 2) & 0x1F) + 1), 1};
  }
  if ((code & kLongZerosBit) == 0) return SparseRun{size_t{code} + 1, 0, 1};
  if (runs.size() < 2) return std::nullopt;
  const size_t high = code & 0x3Fu;
  return SparseRun{(high << 8 | static_cast<uint8_t>(runs[1])) + 1, 0, 2};
}

std::string EmptySparseRuns() {
  std::string runs;
  AppendZeros(runs, kRegisters);
  return runs;
}

SparseChange RaiseSparse(Text& bytes, size_t index, uint8_t value, size_t max_bytes) {
  if (value > kMaxSparseValue) return SparseChange::kTooLarge;
  size_t previous = kHeaderBytes;
  size_t at = kHeaderBytes;
  size_t first = 0;
  std::optional<SparseRun> run;
  for (;; at += run->bytes, first += run->length) {
    run = ReadSparseRun(bytes.view().substr(at));
    if (!run) return SparseChange::kMalformed;
    if (index < first + run->length) break;
    previous = at;
  }
  if (run->value >= value) return SparseChange::kNone;
  std::string split;  // at most five bytes: no allocation
  AppendRun(split, run->value, index - first);
  AppendValues(split, value, 1);
  AppendRun(split, run->value, first + run->length - 1 - index);
  if (split.size() > run->bytes && bytes.size() + split.size() - run->bytes > max_bytes) {
    return SparseChange::kTooLarge;
  }
  bytes.Replace(at, run->bytes, split);
  MergeRuns(bytes, previous);
  return SparseChange::kChanged;
}

}  // namespace tally::hyperloglog
