// Reads the body of a request, which has a length or comes in chunks (RFC 9112, sections 6 and 7).
//
// http-parser reads only the head. In chunks it accepts bytes that are wrong: a line end of LF
// alone, CR before any byte, and any two bytes after the data. A proxy may read such bytes in
// another way. Then what it takes for one request are two requests here, and the second is one
// that the proxy has never judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tally::server {

class HttpBodyReader {
 public:
  enum class Status { kNeedMore, kWhole, kTooLarge, kMalformed };

  // The most bytes that the body may have.
  void set_most(size_t most) { most_ = most; }
  size_t most() const { return most_; }

  // One of these begins a body; before the next one comes Clear.
  void BeginLength(uint64_t bytes);
  void BeginChunks() { state_ = State::kSizeBegin; }

  // Takes bytes of the body from the front of `bytes`. After kWhole the bytes that were not taken
  // come after the body. After kTooLarge and kMalformed it must not be called again. O(bytes).
  Status Read(std::string_view& bytes);
  // Whether more bytes have come, or are announced, than the body may have.
  bool too_large() const { return body_.size() > most_ || left_ > most_ - body_.size(); }

  std::string_view body() const { return body_; }
  // Forgets the body, and frees its memory if it is large.
  void Clear();
  size_t heap_bytes() const { return body_.capacity(); }

 private:
  // What the next byte belongs to.
  enum class State : uint8_t {
    kSizeBegin,  // the first digit of a chunk's size
    kSize,
    kBlank,  // blanks between the size and its extension
    kExtension,
    kSizeLf,
    kData,
    kDataCr,
    kDataLf,
    kTrailerBegin,  // a trailer's name, or the CR of the empty line that ends the body
    kTrailerName,
    kTrailerValue,
    kTrailerLf,
    kLastLf,
    kEnd,
  };

  void TakeData(std::string_view& bytes);
  // Each takes a byte, and returns false if it is wrong in its place.
  bool TakeFraming(char byte);
  bool TakeSizeLine(char byte);
  bool TakeDigit(char byte);
  bool TakeTrailer(char byte);
  // Takes a byte of the text of an extension or of a trailer. What they hold is ignored.
  bool TakeIgnored(char byte);
  bool GoTo(State next);

  size_t most_ = 0;
  State state_ = State::kEnd;
  bool chunked_ = true;
  int digits_ = 0;      // of the size that is read
  uint64_t size_ = 0;   // of the chunk
  uint64_t left_ = 0;   // bytes of data that are announced and have not come
  size_t ignored_ = 0;  // bytes of extensions and trailers
  std::string body_;
};

}  // namespace tally::server
