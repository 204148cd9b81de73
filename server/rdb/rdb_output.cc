#include "server/rdb/rdb_output.h"

#include <liblzf/lzf.h>

#include <bit>
#include <cstring>
#include <limits>

#include "core/bytes/number.h"
#include "core/bytes/recycle.h"
#include "server/rdb/crc64.h"

namespace tally::rdb {
namespace {

constexpr size_t kFlushBytes = size_t{256} << 10;
// A buffer with more capacity than this is freed before it is used again.
constexpr size_t kKeptPacked = size_t{1} << 20;
// As in Redis: shorter texts are not worth compressing, longer ones are no integers of 32 bits.
constexpr size_t kLeastToCompress = 21;
constexpr size_t kMostOfInteger = 11;

// The first bytes of strings that are not written as they are.
enum StringHead : uint8_t {
  kInt8Head = 0xC0,
  kInt16Head = 0xC1,
  kInt32Head = 0xC2,
  kLzfHead = 0xC3
};

}  // namespace

void RdbOutput::Flush() {
  if (target_ == nullptr) return;
  Checksum();
  if (ok() && !bytes_.empty()) status_ = target_->Append(bytes_);
  Recycle(bytes_, 2 * kFlushBytes);
  summed_ = 0;
}

void RdbOutput::FlushIfLarge() {
  if (bytes_.size() >= kFlushBytes) Flush();
}

uint64_t RdbOutput::Checksum() {
  crc_ = ExtendCrc64(crc_, std::string_view(bytes_).substr(summed_));
  summed_ = bytes_.size();
  return crc_;
}

void RdbOutput::Byte(uint8_t byte) { bytes_.push_back(static_cast<char>(byte)); }

void RdbOutput::Fixed(uint64_t value, size_t bytes) {
  static_assert(std::endian::native == std::endian::little);
  char text[sizeof value];
  std::memcpy(text, &value, sizeof value);
  bytes_.append(text, bytes);
  FlushIfLarge();
}

void RdbOutput::BinaryDouble(double value) { Fixed(std::bit_cast<uint64_t>(value), sizeof value); }

void RdbOutput::Raw(std::string_view bytes) {
  bytes_.append(bytes);
  FlushIfLarge();
}

void RdbOutput::Length(uint64_t length) {
  constexpr uint8_t kFourteenBits = 0x40;
  constexpr uint8_t kFourBytes = 0x80;
  constexpr uint8_t kEightBytes = 0x81;
  if (length < 64) return Byte(static_cast<uint8_t>(length));
  if (length < 16384) {
    Byte(static_cast<uint8_t>(kFourteenBits | length >> 8));
    return Byte(static_cast<uint8_t>(length));
  }
  const bool is_long = length > std::numeric_limits<uint32_t>::max();
  Byte(is_long ? kEightBytes : kFourBytes);
  for (int shift = is_long ? 56 : 24; shift >= 0; shift -= 8) {
    Byte(static_cast<uint8_t>(length >> shift));
  }
}

void RdbOutput::String(std::string_view text) {
  if (text.size() <= kMostOfInteger && Integer(text)) return;
  const bool tries = text.size() >= kLeastToCompress && text.size() <= compress_most_;
  if (tries && Compressed(text)) return;
  Length(text.size());
  Raw(text);
}

bool RdbOutput::Integer(std::string_view text) {
  int64_t value = 0;
  if (!ReadInt64(text, value) || value != static_cast<int32_t>(value)) return false;
  const bool is_byte = value == static_cast<int8_t>(value);
  const bool is_short = value == static_cast<int16_t>(value);
  Byte(is_byte ? kInt8Head : is_short ? kInt16Head : kInt32Head);
  Fixed(static_cast<uint64_t>(value), is_byte ? 1 : is_short ? 2 : 4);
  return true;
}

bool RdbOutput::Compressed(std::string_view text) {
  constexpr size_t kLeastGain = 4;
  if (text.size() > std::numeric_limits<unsigned>::max()) return false;
  Recycle(packed_, kKeptPacked);
  packed_.resize(text.size() - kLeastGain);
  const unsigned size = lzf_compress(text.data(), static_cast<unsigned>(text.size()),
                                     packed_.data(), static_cast<unsigned>(packed_.size()));
  if (size == 0) return false;
  Byte(kLzfHead);
  Length(size);
  Length(text.size());
  Raw(std::string_view(packed_).substr(0, size));
  return true;
}

}  // namespace tally::rdb
