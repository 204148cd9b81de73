#include "server/rdb/rdb_input.h"

#include <liblzf/lzf.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/bytes/double_format.h"
#include "core/bytes/recycle.h"
#include "core/bytes/str_cat.h"
#include "server/rdb/crc64.h"

namespace tally::rdb {
namespace {

// A buffer with more capacity than this is freed before it is used again.
constexpr size_t kKeptBuffer = size_t{1} << 20;

enum Encoding : int { kNoEncoding = -1, kInt8 = 0, kInt16 = 1, kInt32 = 2, kLzf = 3 };

constexpr uint8_t kLength32 = 0x80;
constexpr uint8_t kLength64 = 0x81;

constexpr std::string_view kEndsEarly = "the data ends early";

}  // namespace

void RdbInput::Fail(std::string_view why) { FailAt(offset(), why); }

void RdbInput::FailAt(uint64_t offset, std::string_view why) {
  if (ok()) status_ = absl::DataLossError(StrCat("offset ", offset, ": ", why));
}

uint64_t RdbInput::Checksum() {
  crc_ = ExtendCrc64(crc_, chunk_.substr(summed_, position_ - summed_));
  summed_ = position_;
  return crc_;
}

bool RdbInput::Refill() {
  if (!ok()) return false;
  crc_ = ExtendCrc64(crc_, chunk_.substr(summed_));
  chunk_offset_ += chunk_.size();
  position_ = summed_ = 0;
  chunk_ = {};
  const auto next = source_.Next();
  if (!next.ok()) {
    status_ = next.status();
    return false;
  }
  chunk_ = *next;
  return !chunk_.empty();
}

bool RdbInput::AtEnd() { return position_ == chunk_.size() && !Refill(); }

uint8_t RdbInput::Byte() {
  if (position_ == chunk_.size() && !Refill()) {
    Fail(kEndsEarly);
    return 0;
  }
  return static_cast<uint8_t>(chunk_[position_++]);
}

std::string_view RdbInput::Bytes(uint64_t size) {
  if (size <= chunk_.size() - position_) [[likely]] {
    const std::string_view bytes = chunk_.substr(position_, size);
    position_ += bytes.size();
    return bytes;
  }
  return Gather(size);
}

std::string_view RdbInput::Gather(uint64_t size) {
  Recycle(gathered_, kKeptBuffer);
  const uint64_t begin = offset();
  while (true) {
    const std::string_view part = rest().substr(0, size - gathered_.size());
    gathered_.append(part);
    position_ += part.size();
    if (gathered_.size() == size) return gathered_;
    if (Refill()) continue;
    FailAt(begin,
           StrCat("a string of ", size, " bytes, but the data ends after ", gathered_.size()));
    return {};
  }
}

void RdbInput::Skip(uint64_t size) {
  while (true) {
    const uint64_t part = std::min<uint64_t>(size, chunk_.size() - position_);
    position_ += part;
    size -= part;
    if (size == 0) return;
    if (!Refill()) return Fail(kEndsEarly);
  }
}

uint64_t RdbInput::Fixed(size_t bytes) {
  const std::string_view text = Bytes(bytes);
  uint64_t value = 0;
  if (text.size() == bytes) std::memcpy(&value, text.data(), bytes);
  return value;
}

uint64_t RdbInput::BigEndian(size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | Byte();
  return value;
}

double RdbInput::BinaryDouble() { return std::bit_cast<double>(Fixed(sizeof(double))); }

double RdbInput::TextDouble() {
  const uint64_t begin = offset();
  const uint8_t size = Byte();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (size == 253) return std::numeric_limits<double>::quiet_NaN();
  if (size == 254) return kInfinity;
  if (size == 255) return -kInfinity;
  const std::string_view text = Bytes(size);
  const auto value = ParseDouble(text);
  if (!value) FailAt(begin, "a score that is not a number");
  return value.value_or(0);
}

uint64_t RdbInput::LengthOrEncoding(int& encoding) {
  const uint64_t begin = offset();
  const uint8_t first = Byte();
  encoding = kNoEncoding;
  switch (first >> 6) {
    case 0:
      return first & 0x3F;
    case 1:
      return static_cast<uint64_t>(first & 0x3F) << 8 | Byte();
    case 3:
      encoding = first & 0x3F;
      return 0;
    default:
      break;
  }
  if (first == kLength32) return BigEndian(4);
  if (first == kLength64) return BigEndian(8);
  FailAt(begin, "not a length");
  return 0;
}

uint64_t RdbInput::Length() {
  const uint64_t begin = offset();
  int encoding = kNoEncoding;
  const uint64_t length = LengthOrEncoding(encoding);
  if (encoding != kNoEncoding) FailAt(begin, "not a length");
  return ok() ? length : 0;
}

int64_t RdbInput::Signed(size_t bytes) {
  const auto raw = static_cast<int64_t>(Fixed(bytes) << (64 - 8 * bytes));
  return raw >> (64 - 8 * bytes);
}

std::string_view RdbInput::Compressed() {
  const uint64_t begin = offset();
  const uint64_t packed = Length();
  const uint64_t size = Length();
  constexpr uint64_t kMost = std::numeric_limits<unsigned>::max();  // of the library
  if (packed == 0 || packed > kMost || size == 0 || size > kMost ||
      size / kMostExpansion > packed) {
    FailAt(begin, StrCat("a compressed string of ", packed, " bytes for ", size));
    return {};
  }
  const std::string_view bytes = Bytes(packed);
  if (!ok()) return {};
  Recycle(inflated_, kKeptBuffer);
  inflated_.resize(size);
  const unsigned got = lzf_decompress(bytes.data(), static_cast<unsigned>(packed), inflated_.data(),
                                      static_cast<unsigned>(size));
  if (got == size) return inflated_;
  FailAt(begin, "a compressed string is malformed");
  return {};
}

StoredText& RdbInput::Stored() {
  const uint64_t begin = offset();
  int encoding = kNoEncoding;
  const uint64_t length = LengthOrEncoding(encoding);
  stored_.Set(std::string_view());
  if (!ok()) return stored_;
  switch (encoding) {
    case kNoEncoding:
      stored_.Set(Bytes(length));
      break;
    case kInt8:
    case kInt16:
    case kInt32:
      stored_.Set(Signed(size_t{1} << encoding));
      break;
    case kLzf:
      stored_.Set(Compressed());
      break;
    default:
      FailAt(begin, "an unknown encoding of a string");
  }
  return stored_;
}

void RdbInput::SkipString() {
  const uint64_t begin = offset();
  int encoding = kNoEncoding;
  const uint64_t length = LengthOrEncoding(encoding);
  if (!ok()) return;
  switch (encoding) {
    case kNoEncoding:
      return Skip(length);
    case kInt8:
    case kInt16:
    case kInt32:
      return Skip(size_t{1} << encoding);
    case kLzf: {
      const uint64_t packed = Length();
      Length();
      return Skip(ok() ? packed : 0);
    }
    default:
      return FailAt(begin, "an unknown encoding of a string");
  }
}

}  // namespace tally::rdb
