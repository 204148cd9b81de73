// Integers of 1 to 8 little-endian bytes whose lengths are kept elsewhere (several share a head
// byte), and an input that reads them and never reads past the end of its bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "core/bytes/varint.h"

namespace tally {

static_assert(std::endian::native == std::endian::little, "packed integers are read in place");

// Zero point of packed times, in unix ms: 2023-11-14T22:13:20Z. The distance from it to an instant
// of this decade takes five bytes; unix ms would take six.
inline constexpr int64_t kTimeBaseMs = 1'700'000'000'000;

// Returns the number of bytes that hold `value`: 1 to 8.
constexpr uint32_t PackedBytes(uint64_t value) {
  return value == 0 ? 1 : (static_cast<uint32_t>(std::bit_width(value)) + 7) / 8;
}

inline void AppendPacked(std::string& out, uint64_t value, uint32_t bytes) {
  char buffer[8];
  std::memcpy(buffer, &value, sizeof buffer);
  out.append(buffer, bytes);
}

// A difference of times as zigzag, in seconds if it is a whole number of seconds, otherwise in ms.
struct PackedTime {
  explicit PackedTime(int64_t difference_ms)
      : whole_seconds(difference_ms % 1000 == 0),
        zigzag(ZigZagEncode(whole_seconds ? difference_ms / 1000 : difference_ms)),
        bytes(PackedBytes(zigzag)) {}
  bool whole_seconds;
  uint64_t zigzag;
  uint32_t bytes;
};

constexpr int64_t PackedDuration(uint64_t zigzag, bool whole_seconds) {
  const auto value = static_cast<uint64_t>(ZigZagDecode(zigzag));
  return static_cast<int64_t>(whole_seconds ? value * 1000 : value);
}

// Reads from the front. After a failed read (past the end, or malformed) every read returns 0 and
// failed() stays true, so a decoder may check once after several reads.
class PackedInput {
 public:
  explicit PackedInput(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool failed() const { return failed_; }
  bool empty() const { return at_ == end_; }
  std::string_view rest() const { return {at_, static_cast<size_t>(end_ - at_)}; }

  uint8_t Byte() {
    if (at_ == end_) [[unlikely]]
      return Fail();
    return static_cast<uint8_t>(*at_++);
  }

  // `bytes` is 1 to 8.
  uint64_t Fixed(uint32_t bytes) {
    uint64_t value = 0;
    if (end_ - at_ >= 8) [[likely]] {
      std::memcpy(&value, at_, 8);
      value &= std::numeric_limits<uint64_t>::max() >> (64 - 8 * bytes);
    } else {
      if (end_ - at_ < bytes) [[unlikely]]
        return Fail();
      value = LastBytes(bytes);
    }
    at_ += bytes;
    return value;
  }

  [[gnu::always_inline]] uint64_t Varint() {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) return static_cast<uint8_t>(*at_++);
    return LongVarint();
  }

  // Reads a varint if `is_there`, else returns 0. For a varint of one byte it does not branch on
  // `is_there`, because a branch predictor cannot guess which parts a line has.
  [[gnu::always_inline]] uint64_t VarintIf(bool is_there) {
    if (at_ == end_) [[unlikely]]
      return is_there ? Fail() : 0;
    const uint64_t byte = static_cast<uint8_t>(*at_) * uint64_t{is_there};
    if (byte >= 0x80) [[unlikely]]
      return LongVarint();
    at_ += is_there;
    return byte;
  }

  // Fails if it is 0 or above INT64_MAX.
  int64_t PositiveVarint() {
    const uint64_t value = Varint();
    if (value == 0 || value > uint64_t{std::numeric_limits<int64_t>::max()}) return Fail();
    return static_cast<int64_t>(value);
  }

  std::string_view Bytes(size_t count) {
    if (static_cast<size_t>(end_ - at_) < count) [[unlikely]] {
      Fail();
      return {};
    }
    const std::string_view bytes(at_, count);
    at_ += count;
    return bytes;
  }

  // Reads a number of `bytes` bytes, 0 to 8; returns 0 for 0 bytes. Fails if it is above INT32_MAX.
  int32_t Quantity(uint32_t bytes) {
    const uint64_t value = bytes == 0 ? 0 : Fixed(bytes);
    if (value > std::numeric_limits<int32_t>::max()) return Fail();
    return static_cast<int32_t>(value);
  }

 private:
  // Reads `bytes` bytes, 1 to 7, where fewer than eight are left. Uses two loads that may overlap,
  // because a copy of a variable number of bytes would have to be stored before it could be loaded.
  uint64_t LastBytes(uint32_t bytes) const {
    if (bytes >= 4) {
      return Load<uint32_t>(at_) | uint64_t{Load<uint32_t>(at_ + bytes - 4)} << (8 * (bytes - 4));
    }
    const auto first = static_cast<uint8_t>(at_[0]);
    if (bytes == 1) return first;
    return first | uint64_t{Load<uint16_t>(at_ + bytes - 2)} << (8 * (bytes - 2));
  }

  template <typename Word>
  static Word Load(const char* from) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    return word;
  }

  [[gnu::noinline]] uint64_t LongVarint() {
    std::string_view in = rest();
    uint64_t value = 0;
    if (!ReadVarint(in, value)) return Fail();
    at_ = in.data();
    return value;
  }

  uint8_t Fail() {
    failed_ = true;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  bool failed_ = false;
};

}  // namespace tally
