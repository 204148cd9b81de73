// Little-endian base-128 integers (LEB128, as in protocol buffers and LevelDB): seven bits a byte,
// the least significant first, the high bit set on every byte but the last. A 64-bit number takes
// 1 to 10 bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  // The bits by seven, rounded up, without a division: 9/64 is near enough to 1/7 up to 64 bits.
  return static_cast<size_t>(std::bit_width(value | 1) * 9 + 64) / 64;
}

// Writes `value` at `out`, which has room for VarintBytes(value); returns the end of what it wrote.
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

// The sum and the difference modulo 2^64: any two numbers have a difference, from which, and from
// one of them, the other follows.
constexpr int64_t WrappingAdd(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
constexpr int64_t WrappingSub(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

inline void AppendSignedVarint(std::string& out, int64_t value) {
  AppendVarint(out, ZigZagEncode(value));
}

// The seven low bits of each byte, without the gaps between them.
constexpr uint64_t JoinSevenBits(uint64_t bytes) {
  bytes = (bytes & 0x007f007f007f007f) | (bytes & 0x7f007f007f007f00) >> 1;
  bytes = (bytes & 0x00003fff00003fff) | (bytes & 0x3fff00003fff0000) >> 2;
  return (bytes & 0x000000000fffffff) | (bytes & 0x0fffffff00000000) >> 4;
}

// The first eight bytes of `in`, the first the least significant; zeros follow if it has fewer. It
// must have at least four.
inline uint64_t FirstEightBytes(std::string_view in) {
  static_assert(std::endian::native == std::endian::little);
  uint64_t bytes = 0;
  if (in.size() >= sizeof bytes) {
    std::memcpy(&bytes, in.data(), sizeof bytes);
    return bytes;
  }
  // Two halves, which may overlap.
  uint32_t low = 0;
  uint32_t high = 0;
  std::memcpy(&low, in.data(), sizeof low);
  std::memcpy(&high, in.data() + in.size() - sizeof high, sizeof high);
  return uint64_t{high} << (8 * (in.size() - sizeof high)) | low;
}

// ReadVarint for varints of two bytes or more. Not inlined, so that ReadVarint itself stays small
// enough to be inlined where many short varints are read in a row.
[[nodiscard, gnu::noinline]] inline bool ReadLongVarint(std::string_view& in, uint64_t& value) {
  // Two bytes are the most common: the pause between two events, in milliseconds.
  if (in.size() >= 2 && static_cast<uint8_t>(in[1]) < 0x80) {
    value = (static_cast<uint64_t>(in[0]) & 0x7f) | static_cast<uint64_t>(in[1]) << 7;
    in.remove_prefix(2);
    return true;
  }
  uint64_t result = 0;
  size_t at = 0;
  if (in.size() >= 4) {
    // Reads eight bytes at once, and uses those that belong to the number.
    const uint64_t bytes = FirstEightBytes(in);
    const uint64_t ends = ~bytes & 0x8080808080808080;
    if (ends != 0) {
      const int bits = std::countr_zero(ends) + 1;
      const auto length = static_cast<size_t>(bits / 8);
      if (length > in.size()) return false;
      value = JoinSevenBits(bytes & ~uint64_t{0} >> (64 - bits));
      in.remove_prefix(length);
      return true;
    }
    result = JoinSevenBits(bytes);
    at = sizeof bytes;
  }
  const size_t limit = in.size() < kMaxVarintBytes ? in.size() : kMaxVarintBytes;
  for (; at < limit; ++at) {
    const auto byte = static_cast<uint8_t>(in[at]);
    // The tenth byte holds the one bit that is left.
    if (at == kMaxVarintBytes - 1 && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 0x7f) << (7 * at);
    if (byte < 0x80) {
      in.remove_prefix(at + 1);
      value = result;
      return true;
    }
  }
  return false;
}

// Takes a varint off the front of `in`. False, with `in` and `value` untouched, if `in` ends before
// the varint does or the number does not fit 64 bits.
[[nodiscard, gnu::always_inline]] inline bool ReadVarint(std::string_view& in, uint64_t& value) {
  if (in.empty() || static_cast<uint8_t>(in[0]) >= 0x80) return ReadLongVarint(in, value);
  value = static_cast<uint8_t>(in[0]);
  in.remove_prefix(1);
  return true;
}

// The same for a number that must not be above `most`.
[[nodiscard]] inline bool ReadVarintUpTo(std::string_view& in, int64_t most, int64_t& number) {
  std::string_view rest = in;
  uint64_t value = 0;
  if (!ReadVarint(rest, value) || value > static_cast<uint64_t>(most)) return false;
  in = rest;
  number = static_cast<int64_t>(value);
  return true;
}

[[nodiscard]] inline bool ReadSignedVarint(std::string_view& in, int64_t& value) {
  uint64_t encoded = 0;
  if (!ReadVarint(in, encoded)) return false;
  value = ZigZagDecode(encoded);
  return true;
}

// Appends the length of `bytes` as a varint, then the bytes.
inline void AppendLengthPrefixed(std::string& out, std::string_view bytes) {
  AppendVarint(out, bytes.size());
  out.append(bytes);
}

// Takes a length-prefixed byte string off the front of `in`; `bytes` is a view into it. False, with
// both untouched, if `in` is too short for what the length claims.
[[nodiscard, gnu::always_inline]] inline bool ReadLengthPrefixed(std::string_view& in,
                                                                 std::string_view& bytes) {
  std::string_view rest = in;
  uint64_t length = 0;
  if (!ReadVarint(rest, length) || length > rest.size()) return false;
  bytes = rest.substr(0, static_cast<size_t>(length));
  in = rest.substr(static_cast<size_t>(length));
  return true;
}

}  // namespace tally
