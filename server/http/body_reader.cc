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
constexpr int kMostHexDigits = 16;  // hexadecimal digits of 64 bits

uint64_t DigitValue(char digit) {
  if (digit <= '9') return static_cast<uint64_t>(digit - '0');
  return static_cast<uint64_t>(absl::ascii_tolower(static_cast<unsigned char>(digit)) - 'a' + 10);
}

}  // namespace

void HttpBodyReader::BeginLength(uint64_t bytes) {
  chunked_ = false;
  left_ = bytes;
  state_ = bytes == 0 ? State::kEnd : State::kData;
}

void HttpBodyReader::Clear() {
  state_ = State::kEnd;
  chunked_ = true;
  digits_ = 0;
  size_ = left_ = ignored_ = 0;
  Recycle(body_, kKeptBytes);
}

HttpBodyReader::Status HttpBodyReader::Read(std::string_view& bytes) {
  if (too_large()) return Status::kTooLarge;
  while (state_ != State::kEnd && !bytes.empty()) {
    if (state_ == State::kData) {
      TakeData(bytes);
      continue;
    }
    if (!TakeFraming(bytes.front())) return Status::kMalformed;
    bytes.remove_prefix(1);
    if (too_large()) return Status::kTooLarge;
  }
  return state_ == State::kEnd ? Status::kWhole : Status::kNeedMore;
}

void HttpBodyReader::TakeData(std::string_view& bytes) {
  const std::string_view data = bytes.substr(0, std::min<uint64_t>(left_, bytes.size()));
  body_ += data;
  bytes.remove_prefix(data.size());
  left_ -= data.size();
  if (left_ == 0) state_ = chunked_ ? State::kDataCr : State::kEnd;
}

bool HttpBodyReader::TakeFraming(char byte) {
  switch (state_) {
    case State::kDataCr:
      return byte == '\r' && GoTo(State::kDataLf);
    case State::kDataLf:
      return byte == '\n' && GoTo(State::kSizeBegin);
    case State::kTrailerBegin:
    case State::kTrailerName:
    case State::kTrailerValue:
    case State::kTrailerLf:
      return TakeTrailer(byte);
    case State::kLastLf:
      return byte == '\n' && GoTo(State::kEnd);
    default:
      return TakeSizeLine(byte);
  }
}

bool HttpBodyReader::TakeSizeLine(char byte) {
  const bool blank = byte == ' ' || byte == '\t';
  switch (state_) {
    case State::kSizeBegin:
      digits_ = 0;
      size_ = 0;
      return TakeDigit(byte) && GoTo(State::kSize);
    case State::kSize:
      if (byte == '\r') return GoTo(State::kSizeLf);
      if (byte == ';') return GoTo(State::kExtension);
      return blank ? GoTo(State::kBlank) : TakeDigit(byte);
    case State::kBlank:
      if (byte == ';') return GoTo(State::kExtension);
      return blank && TakeIgnored(byte);
    case State::kExtension:
      return byte == '\r' ? GoTo(State::kSizeLf) : TakeIgnored(byte);
    default:  // kSizeLf
      left_ = size_;
      return byte == '\n' && GoTo(size_ == 0 ? State::kTrailerBegin : State::kData);
  }
}

bool HttpBodyReader::TakeDigit(char byte) {
  if (!absl::ascii_isxdigit(static_cast<unsigned char>(byte)) || digits_ == kMostHexDigits) {
    return false;
  }
  ++digits_;
  size_ = size_ * 16 + DigitValue(byte);
  return true;
}

bool HttpBodyReader::TakeTrailer(char byte) {
  switch (state_) {
    case State::kTrailerBegin:
      if (byte == '\r') return GoTo(State::kLastLf);
      return IsTokenByte(byte) && TakeIgnored(byte) && GoTo(State::kTrailerName);
    case State::kTrailerName:
      if (byte == ':') return GoTo(State::kTrailerValue);
      return IsTokenByte(byte) && TakeIgnored(byte);
    case State::kTrailerValue:
      return byte == '\r' ? GoTo(State::kTrailerLf) : TakeIgnored(byte);
    default:  // kTrailerLf
      return byte == '\n' && GoTo(State::kTrailerBegin);
  }
}

bool HttpBodyReader::TakeIgnored(char byte) {
  return IsTextByte(byte) && ++ignored_ <= kMaxHttpHead;
}

bool HttpBodyReader::GoTo(State next) {
  state_ = next;
  return true;
}

}  // namespace tally::server
