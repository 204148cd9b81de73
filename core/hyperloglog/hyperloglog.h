// HyperLogLog: how many distinct elements have been seen, within 0.81 % (standard error), in at
// most 12 KiB. Held as a byte string in the format of Redis, so that one can be read from Redis,
// stored and sent back.
//
// 16384 registers of 6 bits, each the longest run of zeros among the hashes that fell to it
// (Flajolet, Fusy, Gandouet, Meunier, 2007), and Ertl's estimator ("New cardinality estimation
// algorithms for HyperLogLog sketches", arXiv:1702.01284, 2017), which needs no bias tables. The
// string:
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

#include "core/bytes/text.h"

namespace tally::hyperloglog {

inline constexpr size_t kRegisterBits = 14;  // of the hash, to choose a register
inline constexpr size_t kRegisters = size_t{1} << kRegisterBits;
inline constexpr size_t kHeaderBytes = 16;
inline constexpr size_t kDenseBytes = kHeaderBytes + kRegisters * 6 / 8;

// All registers, a byte each.
using Registers = std::array<uint8_t, kRegisters>;

// One that has seen nothing: 18 bytes.
std::string Empty();

// Whether the string has the header and, if dense, the size. A sparse one may still be malformed
// inside: then the functions below say so.
bool LooksValid(std::string_view bytes);
bool IsDense(std::string_view bytes);

enum class [[nodiscard]] Change { kNone, kChanged, kMalformed };

// Counts an element. A sparse one that would outgrow `max_sparse` bytes becomes dense. O(1) for a
// dense one, O(bytes) for a sparse one. The estimate in the header is not touched.
Change Add(Text& bytes, std::string_view element, size_t max_sparse);
// Raises a register to `value`, as Add does. 0 < value <= 63.
Change RaiseRegister(Text& bytes, size_t index, uint8_t value, size_t max_sparse);
// False on malformed bytes, which stay as they are.
[[nodiscard]] bool MakeDense(Text& bytes);

// Raises each of `registers` to the string's. False on malformed bytes.
[[nodiscard]] bool MergeInto(std::string_view bytes, Registers& registers);

// The estimate. O(registers).
uint64_t Estimate(const Registers& registers);
// Nothing on malformed bytes.
std::optional<uint64_t> Estimate(std::string_view bytes);

// The estimate in the header, if it is up to date.
std::optional<uint64_t> CachedEstimate(std::string_view bytes);
void CacheEstimate(Text& bytes, uint64_t estimate);
void ForgetEstimate(Text& bytes);

}  // namespace tally::hyperloglog
