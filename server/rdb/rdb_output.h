// The elementary parts of an RDB that is written: bytes, numbers, lengths and strings.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tally::rdb {

// Where the bytes go, so that the writer knows no files.
class ByteTarget {
 public:
  virtual absl::Status Append(std::string_view bytes) = 0;

 protected:
  ~ByteTarget() = default;
};

class RdbOutput {
 public:
  // Without a target all bytes stay in bytes(). With one they go there in parts of some kilobytes.
  // Strings of more than `compress_most` bytes are not compressed.
  explicit RdbOutput(ByteTarget* target = nullptr, size_t compress_most = SIZE_MAX)
      : target_(target), compress_most_(compress_most) {}
  RdbOutput(const RdbOutput&) = delete;
  RdbOutput& operator=(const RdbOutput&) = delete;

  // The first error of the target. After it everything is dropped.
  const absl::Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }

  void Byte(uint8_t byte);
  // A little-endian number of 1 to 8 bytes.
  void Fixed(uint64_t value, size_t bytes);
  void BinaryDouble(double value);
  void Length(uint64_t length);
  // In the shortest encoding: the canonical text of an integer of 32 bits as that integer, a text
  // that shrinks by it compressed, if it is not too long for that.
  void String(std::string_view text);
  // Exactly these bytes.
  void Raw(std::string_view bytes);

  // The checksum of all bytes so far.
  uint64_t Checksum();
  // Gives the target what it has not got yet.
  void Flush();
  // What the target has not got.
  std::string& bytes() { return bytes_; }

 private:
  bool Integer(std::string_view text);
  bool Compressed(std::string_view text);
  void FlushIfLarge();

  ByteTarget* target_;
  const size_t compress_most_;
  absl::Status status_;
  std::string bytes_;
  size_t summed_ = 0;  // bytes of bytes_ that are in crc_
  uint64_t crc_ = 0;
  std::string packed_;
};

}  // namespace tally::rdb
