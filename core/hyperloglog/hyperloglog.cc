#include "core/hyperloglog/hyperloglog.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/base/check.h"
#include "core/bytes/text.h"
#include "core/hyperloglog/hyperloglog_sparse.h"
#include "core/hyperloglog/murmur_hash.h"

namespace tally::hyperloglog {
namespace {

constexpr std::string_view kMagic = "HYLL";
constexpr size_t kEncodingAt = 4;
constexpr size_t kEstimateAt = 8;
constexpr char kDense = 0;
constexpr char kSparse = 1;
// The number of bits of the hash that do not choose the register.
constexpr int kHashBits = 64 - static_cast<int>(kRegisterBits);
constexpr uint64_t kSeed = 0xadc83b19;
constexpr uint8_t kRegisterMask = 63;

// How many registers have each value.
using Histogram = std::array<uint32_t, 64>;

uint8_t DenseAt(std::string_view bytes, size_t index) {
  const size_t at = kHeaderBytes + index * 6 / 8;
  const size_t shift = index * 6 % 8;
  unsigned pair = static_cast<uint8_t>(bytes[at]);
  // The last register ends in the last byte of the string.
  if (at + 1 < bytes.size()) pair |= unsigned{static_cast<uint8_t>(bytes[at + 1])} << 8;
  return (pair >> shift) & kRegisterMask;
}

void SetDense(Text& bytes, size_t index, uint8_t value) {
  const size_t at = kHeaderBytes + index * 6 / 8;
  const size_t shift = index * 6 % 8;
  const unsigned mask = unsigned{kRegisterMask} << shift;
  const unsigned bits = unsigned{value} << shift;
  bytes[at] = static_cast<char>((static_cast<uint8_t>(bytes[at]) & ~mask) | bits);
  if (shift <= 2) return;
  bytes[at + 1] =
      static_cast<char>((static_cast<uint8_t>(bytes[at + 1]) & ~(mask >> 8)) | bits >> 8);
}

std::string_view RunsOf(std::string_view bytes) { return bytes.substr(kHeaderBytes); }

double Sigma(double x) {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double y = 1;
  double z = x;
  double before = 0;
  do {
    x *= x;
    before = z;
    z += x * y;
    y += y;
  } while (before != z);
  return z;
}

double Tau(double x) {
  if (x == 0 || x == 1) return 0;
  double y = 1;
  double z = 1 - x;
  double before = 0;
  do {
    x = std::sqrt(x);
    before = z;
    y *= 0.5;
    z -= (1 - x) * (1 - x) * y;
  } while (before != z);
  return z / 3;
}

// Ertl's algorithm 6.
uint64_t EstimateOf(const Histogram& counts) {
  constexpr double kAlphaInf = 0.721347520444481703680;  // 0.5 / ln 2
  constexpr auto m = static_cast<double>(kRegisters);
  double z = m * Tau((m - counts[kHashBits + 1]) / m);
  for (int j = kHashBits; j >= 1; --j) {
    z += counts[static_cast<size_t>(j)];
    z *= 0.5;
  }
  z += m * Sigma(counts[0] / m);
  // No hash gives such registers: the string was made up.
  if (z <= 0) return 0;
  return static_cast<uint64_t>(std::llround(kAlphaInf * m * m / z));
}

}  // namespace

std::string Empty() {
  std::string bytes(kHeaderBytes, '\0');
  bytes.replace(0, kMagic.size(), kMagic);
  bytes[kEncodingAt] = kSparse;
  return bytes + EmptySparseRuns();
}

bool LooksValid(std::string_view bytes) {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return false;
  if (bytes[kEncodingAt] == kDense) return bytes.size() == kDenseBytes;
  return bytes[kEncodingAt] == kSparse;
}

bool IsDense(std::string_view bytes) { return bytes[kEncodingAt] == kDense; }

Change Add(Text& bytes, std::string_view element, size_t max_sparse) {
  const uint64_t hash = MurmurHash64A(element, kSeed);
  const size_t index = hash & (kRegisters - 1);
  // A one above the bits of the hash ends the run of zeros.
  const uint64_t rest = hash >> kRegisterBits | uint64_t{1} << kHashBits;
  return RaiseRegister(bytes, index, static_cast<uint8_t>(std::countr_zero(rest) + 1), max_sparse);
}

Change RaiseRegister(Text& bytes, size_t index, uint8_t value, size_t max_sparse) {
  if (!IsDense(bytes)) {
    switch (RaiseSparse(bytes, index, value, max_sparse)) {
      case SparseChange::kNone:
        return Change::kNone;
      case SparseChange::kChanged:
        return Change::kChanged;
      case SparseChange::kMalformed:
        return Change::kMalformed;
      case SparseChange::kTooLarge:
        if (!MakeDense(bytes)) return Change::kMalformed;
    }
  }
  if (DenseAt(bytes, index) >= value) return Change::kNone;
  SetDense(bytes, index, value);
  return Change::kChanged;
}

bool MakeDense(Text& bytes) {
  if (IsDense(bytes)) return true;
  Text dense;
  dense.Reserve(kDenseBytes);
  dense.Append(bytes.view().substr(0, kHeaderBytes));
  dense[kEncodingAt] = kDense;
  dense.Resize(kDenseBytes);
  const bool whole = ForEachSparseRun(RunsOf(bytes), [&](size_t first, const SparseRun& run) {
    if (run.value == 0) return;
    for (size_t i = 0; i < run.length; ++i) SetDense(dense, first + i, run.value);
  });
  if (whole) bytes = std::move(dense);
  return whole;
}

bool MergeInto(std::string_view bytes, Registers& registers) {
  if (IsDense(bytes)) {
    for (size_t i = 0; i < kRegisters; ++i) {
      registers[i] = std::max(registers[i], DenseAt(bytes, i));
    }
    return true;
  }
  return ForEachSparseRun(RunsOf(bytes), [&](size_t first, const SparseRun& run) {
    if (run.value == 0) return;
    for (size_t i = first; i < first + run.length; ++i) {
      registers[i] = std::max(registers[i], run.value);
    }
  });
}

uint64_t Estimate(const Registers& registers) {
  Histogram counts{};
  for (const uint8_t value : registers) ++counts[value];
  return EstimateOf(counts);
}

std::optional<uint64_t> Estimate(std::string_view bytes) {
  Histogram counts{};
  if (IsDense(bytes)) {
    for (size_t i = 0; i < kRegisters; ++i) ++counts[DenseAt(bytes, i)];
    return EstimateOf(counts);
  }
  const bool whole = ForEachSparseRun(RunsOf(bytes), [&](size_t, const SparseRun& run) {
    counts[run.value] += static_cast<uint32_t>(run.length);
  });
  return whole ? std::optional(EstimateOf(counts)) : std::nullopt;
}

std::optional<uint64_t> CachedEstimate(std::string_view bytes) {
  uint64_t estimate = 0;
  for (size_t i = 0; i < 8; ++i) {
    estimate |= uint64_t{static_cast<uint8_t>(bytes[kEstimateAt + i])} << (8 * i);
  }
  return estimate >> 63 == 0 ? std::optional(estimate) : std::nullopt;
}

void CacheEstimate(Text& bytes, uint64_t estimate) {
  for (size_t i = 0; i < 8; ++i) bytes[kEstimateAt + i] = static_cast<char>(estimate >> (8 * i));
}

void ForgetEstimate(Text& bytes) { bytes[kEstimateAt + 7] |= static_cast<char>(0x80); }

}  // namespace tally::hyperloglog
