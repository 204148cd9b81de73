#include "server/http/body_reader.h"

#include <absl/strings/ascii.h>

#include <algorithm>

#include "core/bytes/recycle.h"
#include "server/http/header_text.h"
#include "server/http/http_limits.h"

namespace tally::server {
namespace {

// A buffer with more capacity than this is freed after the request.
constexpr size_t kKeptBytes = 32 * 1024;
constexpr int kMostDigits = 16;  // hexadecimal digits of 64 bits

uint64_t DigitValue(char digit) {
  if (digit <= '9') return static_cast<uint64_t>(digit - '0');
  return static_cast<uint64_t>(absl::ascii_tolower(static_cast<unsigned char>(digit)) - 'a' + 10);
}

}  // namespace

void HttpBodyReader::BeginLength(uint64_t bytes) {
  chunked_ = false;
  left_ = bytes;
  place_ = bytes == 0 ? Place::kEnd : Place::kData;
}

void HttpBodyReader::Clear() {
  place_ = Place::kEnd;
  chunked_ = true;
  digits_ = 0;
  size_ = left_ = ignored_ = 0;
  Recycle(body_, kKeptBytes);
}

HttpBodyReader::Status HttpBodyReader::Read(std::string_view& bytes) {
  if (too_large()) return Status::kTooLarge;
  while (place_ != Place::kEnd && !bytes.empty()) {
    if (place_ == Place::kData) {
      TakeData(bytes);
      continue;
    }
    if (!TakeFraming(bytes.front())) return Status::kMalformed;
    bytes.remove_prefix(1);
    if (too_large()) return Status::kTooLarge;
  }
  return place_ == Place::kEnd ? Status::kWhole : Status::kNeedMore;
}

void HttpBodyReader::TakeData(std::string_view& bytes) {
  const std::string_view data = bytes.substr(0, std::min<uint64_t>(left_, bytes.size()));
  body_ += data;
  bytes.remove_prefix(data.size());
  left_ -= data.size();
  if (left_ == 0) place_ = chunked_ ? Place::kDataCr : Place::kEnd;
}

bool HttpBodyReader::TakeFraming(char byte) {
  switch (place_) {
    case Place::kDataCr:
      return byte == '\r' && GoTo(Place::kDataLf);
    case Place::kDataLf:
      return byte == '\n' && GoTo(Place::kSizeBegin);
    case Place::kTrailerBegin:
    case Place::kTrailerName:
    case Place::kTrailerValue:
    case Place::kTrailerLf:
      return TakeTrailer(byte);
    case Place::kLastLf:
      return byte == '\n' && GoTo(Place::kEnd);
    default:
      return TakeSizeLine(byte);
  }
}

bool HttpBodyReader::TakeSizeLine(char byte) {
  const bool blank = byte == ' ' || byte == '\t';
  switch (place_) {
    case Place::kSizeBegin:
      digits_ = 0;
      size_ = 0;
      return TakeDigit(byte) && GoTo(Place::kSize);
    case Place::kSize:
      if (byte == '\r') return GoTo(Place::kSizeLf);
      if (byte == ';') return GoTo(Place::kExtension);
      return blank ? GoTo(Place::kBlank) : TakeDigit(byte);
    case Place::kBlank:
      if (byte == ';') return GoTo(Place::kExtension);
      return blank && TakeIgnored(byte);
    case Place::kExtension:
      return byte == '\r' ? GoTo(Place::kSizeLf) : TakeIgnored(byte);
    default:  // kSizeLf
      left_ = size_;
      return byte == '\n' && GoTo(size_ == 0 ? Place::kTrailerBegin : Place::kData);
  }
}

bool HttpBodyReader::TakeDigit(char byte) {
  if (!absl::ascii_isxdigit(static_cast<unsigned char>(byte)) || digits_ == kMostDigits) {
    return false;
  }
  ++digits_;
  size_ = size_ * 16 + DigitValue(byte);
  return true;
}

bool HttpBodyReader::TakeTrailer(char byte) {
  switch (place_) {
    case Place::kTrailerBegin:
      if (byte == '\r') return GoTo(Place::kLastLf);
      return IsTokenByte(byte) && TakeIgnored(byte) && GoTo(Place::kTrailerName);
    case Place::kTrailerName:
      if (byte == ':') return GoTo(Place::kTrailerValue);
      return IsTokenByte(byte) && TakeIgnored(byte);
    case Place::kTrailerValue:
      return byte == '\r' ? GoTo(Place::kTrailerLf) : TakeIgnored(byte);
    default:  // kTrailerLf
      return byte == '\n' && GoTo(Place::kTrailerBegin);
  }
}

bool HttpBodyReader::TakeIgnored(char byte) {
  return IsTextByte(byte) && ++ignored_ <= kMaxHttpHead;
}

bool HttpBodyReader::GoTo(Place next) {
  place_ = next;
  return true;
}

}  // namespace tally::server
