// Little-endian base-128 integers (LEB128, as in protocol buffers and LevelDB): seven bits a byte,
// the least significant first, the high bit set on every byte but the last. A 64-bit number takes
// 1 to 10 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tally {

inline constexpr size_t kMaxVarintBytes = 10;

// Maps integers near zero, of either sign, to small unsigned ones: 0, -1, 1, -2 … to 0, 1, 2, 3 …
constexpr uint64_t ZigZagEncode(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t ZigZagDecode(uint64_t value) {
  return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

// The bytes that AppendVarint takes for `value`: 1 to 10.
constexpr size_t VarintBytes(uint64_t value) {
  size_t bytes = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++bytes;
  }
  return bytes;
}

// Writes `value` at `out`, which has room for kMaxVarintBytes; returns the end of what it wrote.
inline char* WriteVarint(char* out, uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<char>(value);
  return out;
}

inline void AppendVarint(std::string& out, uint64_t value) {
  char buffer[kMaxVarintBytes];
  out.append(buffer, static_cast<size_t>(WriteVarint(buffer, value) - buffer));
}

inline void AppendSignedVarint(std::string& out, int64_t value) {
  AppendVarint(out, ZigZagEncode(value));
}

// Takes a varint off the front of `in`. False, with `in` and `value` untouched, if `in` ends before
// the varint does or the number does not fit 64 bits.
[[nodiscard]] inline bool ReadVarint(std::string_view& in, uint64_t& value) {
  uint64_t result = 0;
  const size_t limit = in.size() < kMaxVarintBytes ? in.size() : kMaxVarintBytes;
  for (size_t i = 0; i < limit; ++i) {
    const auto byte = static_cast<uint8_t>(in[i]);
    // The tenth byte holds the one bit that is left.
    if (i == kMaxVarintBytes - 1 && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      in.remove_prefix(i + 1);
      value = result;
      return true;
    }
  }
  return false;
}

[[nodiscard]] inline bool ReadSignedVarint(std::string_view& in, int64_t& value) {
  uint64_t encoded = 0;
  if (!ReadVarint(in, encoded)) return false;
  value = ZigZagDecode(encoded);
  return true;
}

// A byte string behind its length.
inline void AppendLengthPrefixed(std::string& out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

// Takes a length-prefixed byte string off the front of `in`; `bytes` is a view into it. False, with
// both untouched, if `in` is too short for what the length claims.
[[nodiscard]] inline bool ReadLengthPrefixed(std::string_view& in, std::string_view& bytes) {
  std::string_view rest = in;
  uint64_t length = 0;
  if (!ReadVarint(rest, length) || length > rest.size()) return false;
  bytes = rest.substr(0, static_cast<size_t>(length));
  in = rest.substr(static_cast<size_t>(length));
  return true;
}

}  // namespace tally
