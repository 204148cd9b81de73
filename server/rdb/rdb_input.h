// The elementary parts of an RDB: bytes, numbers, lengths and strings, out of a source that comes
// in chunks.
//
// The first error is kept, with the offset at which it was found; from then on every read gives
// zeros and empty strings. So callers check ok() where they are about to use what they have read,
// and in every loop. No length is trusted: memory grows with the bytes that have come, and a
// compressed string may not claim more than its bytes can give.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "server/rdb/byte_source.h"
#include "server/rdb/stored_text.h"

namespace tally::rdb {

class RdbInput {
 public:
  explicit RdbInput(ByteSource& source) : source_(source) {}
  RdbInput(const RdbInput&) = delete;
  RdbInput& operator=(const RdbInput&) = delete;

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }
  // What was read last is malformed: "offset N: why".
  void Fail(std::string_view why);
  // The same for what was read at an earlier offset.
  void FailAt(uint64_t offset, std::string_view why);

  // Of the next byte.
  uint64_t offset() const { return chunk_offset_ + position_; }
  // The checksum of all bytes before offset().
  uint64_t Checksum();
  // Whether the source has no more bytes. An error of the source counts as an end.
  bool AtEnd();

  uint8_t Byte();
  // Little-endian numbers of 1 to 8 bytes.
  uint64_t Fixed(size_t bytes);
  double BinaryDouble();
  // A score of old files: a length, then its text.
  double TextDouble();
  // A length or another number, of 64 bits.
  uint64_t Length();
  // Exactly these bytes. The view is valid until the next read.
  std::string_view Bytes(uint64_t size);
  void Skip(uint64_t size);

  // A string, however it is encoded; both are valid until the next read.
  StoredText& Stored();
  std::string_view String() { return Stored().text(); }
  void SkipString();

  // At most this large is the text of a compressed string beside its bytes: 3 of them give 264.
  static constexpr uint64_t kMostExpansion = 88;

 private:
  // The first byte of a length or a string. `encoding` is -1 for a length, else a string's
  // encoding.
  uint64_t LengthOrEncoding(int& encoding);
  uint64_t BigEndian(size_t bytes);
  int64_t Signed(size_t bytes);
  std::string_view Compressed();
  std::string_view Gather(uint64_t size);
  bool Refill();
  std::string_view rest() const { return chunk_.substr(position_); }

  ByteSource& source_;
  absl::Status status_;
  std::string_view chunk_;
  size_t position_ = 0;        // in the chunk
  uint64_t chunk_offset_ = 0;  // of the chunk's first byte
  uint64_t crc_ = 0;           // of all bytes before `summed_`
  size_t summed_ = 0;          // in the chunk
  std::string gathered_;       // a string that lies in more than one chunk
  std::string inflated_;       // a string that was compressed
  StoredText stored_;
};

}  // namespace tally::rdb
