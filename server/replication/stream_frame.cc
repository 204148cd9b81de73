#include "server/replication/stream_frame.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "core/bytes/str_cat.h"
#include "server/aof/crc32c.h"

namespace tally::server {
namespace {

constexpr size_t kCrcDigits = 8;
constexpr size_t kCrcAt = kFrameHeaderBytes - kCrcDigits - 2;

// The parts of a header, if it has exactly their form.
struct Header {
  uint64_t offset;
  uint64_t length;
  uint64_t database;
  uint64_t crc;
};

// Reads exactly `digits` digits and what must follow them. Returns false for anything else.
bool ReadField(std::string_view& line, size_t digits, uint64_t base, std::string_view after,
               uint64_t& value) {
  value = 0;
  for (const char c : line.substr(0, digits)) {
    const bool decimal = c >= '0' && c <= '9';
    if (!decimal && !(base == 16 && c >= 'a' && c <= 'f')) return false;
    const auto digit = static_cast<uint64_t>(decimal ? c - '0' : c - 'a' + 10);
    if (__builtin_mul_overflow(value, base, &value)) return false;
    if (__builtin_add_overflow(value, digit, &value)) return false;
  }
  line.remove_prefix(digits);
  if (!line.starts_with(after)) return false;
  line.remove_prefix(after.size());
  return true;
}

std::optional<Header> ParseFrameHeader(std::string_view line) {
  Header header{};
  if (line.front() != '#') return std::nullopt;
  line.remove_prefix(1);
  const bool whole = ReadField(line, 20, 10, " ", header.offset) &&
                     ReadField(line, 10, 10, " ", header.length) &&
                     ReadField(line, 5, 10, " ", header.database) &&
                     ReadField(line, kCrcDigits, 16, "\r\n", header.crc);
  if (!whole) return std::nullopt;
  return header;
}

}  // namespace

std::string FrameWriter::Header(uint64_t offset, size_t database,
                                std::span<const std::string_view> effects) {
  size_t length = 0;
  for (const std::string_view piece : effects) length += piece.size();
  Check(length <= kMaxFrameBytes, "a frame's length has ten digits");
  std::string header = absl::StrFormat("#%020u %010u %05u ", offset, length, database);
  crc_ = ExtendCrc32c(crc_, header);
  for (const std::string_view piece : effects) crc_ = ExtendCrc32c(crc_, piece);
  absl::StrAppendFormat(&header, "%08x\r\n", crc_);
  return header;
}

FrameReader::Status FrameReader::Fail(std::string why) {
  error_ = std::move(why);
  return Status::kError;
}

FrameReader::Status FrameReader::Next(std::string_view bytes, StreamFrame& frame,
                                      size_t& consumed) {
  if (!bytes.empty() && bytes.front() != '#') return Fail("what came is no frame");
  if (bytes.size() < kFrameHeaderBytes) {
    wanted_ = kFrameHeaderBytes;
    return Status::kNeedMore;
  }
  const auto header = ParseFrameHeader(bytes.substr(0, kFrameHeaderBytes));
  if (!header) return Fail("the header of a frame is damaged");
  if (header->offset != expected_) {
    return Fail(StrCat("a frame begins at offset ", header->offset, " in place of ", expected_));
  }
  const size_t size = kFrameHeaderBytes + header->length;
  if (bytes.size() < size) {
    wanted_ = size;
    return Status::kNeedMore;
  }
  const std::string_view effects = bytes.substr(kFrameHeaderBytes, header->length);
  const uint32_t crc = ExtendCrc32c(ExtendCrc32c(crc_, bytes.substr(0, kCrcAt)), effects);
  if (crc != header->crc) return Fail("the checksum of a frame is wrong");
  crc_ = crc;
  if (header->database != kMessages) expected_ += header->length;
  wanted_ = kFrameHeaderBytes;
  frame = {.offset = header->offset, .database = header->database, .effects = effects};
  consumed = size;
  return Status::kFrame;
}

}  // namespace tally::server
