// How the stream of effects is framed on a link between two servers:
//
//   frame  = "#" offset " " length " " database " " crc CRLF effects
//   offset = 20 digits   ; of the first byte of the effects, in the stream
//   length = 10 digits   ; bytes of the effects
//   database = 5 digits  ; the one in force where the effects begin; 99999: these are messages
//   crc    = 8 lower-case hexadecimal digits
//
// The checksum is CRC-32C of the line up to it and of the effects, chained to that of the frame
// before; the first one of a link is chained to 0. So what is lost, doubled or changed on the way
// is found, and so are the bytes of another link. The effects are whole deliveries of the stream:
// transactions and scripts are never divided. A frame without effects says that the link lives.
// Frames do not count in offsets. Messages are whole commands that publish something: they change
// no data and are in no stream, so they do not count in offsets either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tally::server {

inline constexpr size_t kFrameHeaderBytes = 49;
// The length has ten digits.
inline constexpr uint64_t kMaxFrameBytes = 9'999'999'999;

// In the place of a database, which has a smaller number.
inline constexpr size_t kMessages = 99'999;

struct StreamFrame {
  uint64_t offset = 0;
  size_t database = 0;
  std::string_view effects;
};

class FrameWriter {
 public:
  // Returns the header of a frame whose effects are these pieces, one after the other, at most
  // kMaxFrameBytes together (asserted). The caller sends it and then the pieces.
  std::string Header(uint64_t offset, size_t database, std::span<const std::string_view> effects);
  std::string Header(uint64_t offset, size_t database, std::string_view effects) {
    return Header(offset, database, {&effects, 1});
  }

 private:
  uint32_t crc_ = 0;  // of the frame before
};

class FrameReader {
 public:
  enum class Status : uint8_t {
    kFrame,     // a frame was read
    kNeedMore,  // the bytes end within a frame
    kError,     // this is no frame, or not the next one: the link must end
  };

  // The first frame must begin at `offset`.
  explicit FrameReader(uint64_t offset) : expected_(offset) {}

  // Reads the frame that `bytes` begins with. kFrame: `frame` has views of `bytes`, and `consumed`
  // is the length of the frame. kNeedMore: the next call needs at least `wanted()` bytes from the
  // same place; that may be more than memory has, so take no memory for what has not come.
  Status Next(std::string_view bytes, StreamFrame& frame, size_t& consumed);
  size_t wanted() const { return wanted_; }
  // Why the last call returned kError, for the log.
  const std::string& error() const { return error_; }
  // Where the next frame begins.
  uint64_t offset() const { return expected_; }

 private:
  Status Fail(std::string why);

  uint64_t expected_;
  uint32_t crc_ = 0;
  size_t wanted_ = kFrameHeaderBytes;
  std::string error_;
};

}  // namespace tally::server
