// HyperLogLog: estimates how many distinct elements have been seen (standard error 0.81 %), in some
// 12 KiB at most. It is a byte string in the format of Redis, so that it can be read from Redis,
// stored and sent back.
//
// It has 16384 registers of 6 bits. Each element's hash chooses a register, which keeps the longest
// run of zeros of its hashes, plus 1 (Flajolet, Fusy, Gandouet, Meunier, 2007). Ertl's estimator
// ("New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284, 2017) needs
// no bias tables. The string:
//   4 bytes  "HYLL"
//   1 byte   encoding: 0 dense, 1 sparse
//   3 bytes  unused
//   8 bytes  the last estimate, little endian; the top bit is set when it is out of date
//   dense: the registers, 6 bits each from the least significant bit on
//   sparse: runs of equal registers, see hyperloglog_sparse.h
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally {
class Text;
}  // namespace tally

namespace tally::hyperloglog {

inline constexpr size_t kRegisterBits = 14;  // bits of the hash that choose a register
inline constexpr size_t kRegisters = size_t{1} << kRegisterBits;
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kDenseBytes = kHeaderBytes + kRegisters * 6 / 8;

// All registers, a byte each.
using Registers = std::array<uint8_t, kRegisters>;

// Returns an empty HyperLogLog: sparse, 18 bytes.
std::string Empty();

// Whether the string has the header and, if dense, the right size. The runs of a sparse string may
// still be malformed: the functions below report that.
bool LooksValid(std::string_view bytes);
bool IsDense(std::string_view bytes);

enum class [[nodiscard]] Change { kNone, kChanged, kMalformed };

// Counts an element. A sparse string that would exceed `max_sparse` bytes becomes dense. O(1) for a
// dense string, O(bytes) for a sparse one. The estimate in the header is not changed.
Change Add(Text& bytes, std::string_view element, size_t max_sparse);
// Raises a register to `value`, 0 < value <= 63, in the same way; a higher register stays as it is.
Change RaiseRegister(Text& bytes, size_t index, uint8_t value, size_t max_sparse);
// Returns false if the bytes are malformed; they then stay as they are.
[[nodiscard]] bool MakeDense(Text& bytes);

// Raises each of `registers` to the string's value if that is higher. Returns false if the bytes
// are malformed; some of `registers` may then have changed.
[[nodiscard]] bool MergeInto(std::string_view bytes, Registers& registers);

// The estimate. O(registers).
uint64_t Estimate(const Registers& registers);
// The same for a string; nullopt if its bytes are malformed.
std::optional<uint64_t> Estimate(std::string_view bytes);

// The estimate in the header; nullopt if it is out of date.
std::optional<uint64_t> CachedEstimate(std::string_view bytes);
void CacheEstimate(Text& bytes, uint64_t estimate);
void ForgetEstimate(Text& bytes);

}  // namespace tally::hyperloglog
