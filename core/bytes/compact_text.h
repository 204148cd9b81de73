// Byte strings as the packed containers hold them: integers and hexadecimal ids in binary, and
// binary records, which are mostly zeros, with short codes for runs of zeros.
//
// The code of a text begins with a marker only where it must:
//   0xF7 … 0xFE   the canonical text of an int64: its 1 to 8 bytes follow, little-endian
//   0xF6          lower-case hexadecimal digits, two a byte: an even number from 8 to 128
//   0xF5          a text that itself begins with a byte of 0xF4 or above follows
//   0xF4          at most 256 bytes, in which a run of 1 to 255 zeros is a zero and a byte with its
//                 length; only if this is shorter than the text
// Otherwise the code is the text itself. A UTF-8 text begins with such a byte only if its first
// character is a private one (from U+100000 on). Each text has exactly one code, so that codes can
// be hashed and compared in place of texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "core/bytes/counted_block.h"
#include "core/bytes/number.h"

namespace tally {

// The code of a text. If the text is its own code, only a view of it is held. O(text).
class CompactText {
 public:
  explicit CompactText(std::string_view text);
  explicit CompactText(int64_t number) { EncodeInteger(number); }
  CompactText(const CompactText&) = delete;
  CompactText& operator=(const CompactText&) = delete;

  // Lives as long as both this object and the text.
  std::string_view code() const { return code_; }

  static constexpr uint8_t kFirstMarker = 0xF4;
  static constexpr uint8_t kSparseMarker = 0xF4;
  static constexpr uint8_t kEscapeMarker = 0xF5;
  static constexpr uint8_t kHexMarker = 0xF6;
  // The marker of an integer of n bytes is kIntegerMarker + n.
  static constexpr uint8_t kIntegerMarker = 0xF6;
  static constexpr size_t kMaxIntegerCode = 1 + sizeof(int64_t);
  static constexpr size_t kMinHexDigits = 8;
  static constexpr size_t kMaxHexDigits = 128;
  static constexpr size_t kMaxSparseText = 256;

 private:
  void EncodeInteger(int64_t number);
  bool EncodeHex(std::string_view text);
  bool EncodeSparse(std::string_view text);

  std::string_view code_;
  std::string escaped_;
  char buffer_[kMaxSparseText];
};

// Returns the integer that `code` stands for; nullopt if it is not the code of an integer. O(1).
inline std::optional<int64_t> IntegerOfCode(std::string_view code) {
  if (code.size() < 2 || code.size() > CompactText::kMaxIntegerCode) return std::nullopt;
  const size_t bytes = code.size() - 1;
  if (static_cast<uint8_t>(code[0]) != CompactText::kIntegerMarker + bytes) return std::nullopt;
  uint64_t low = 0;
  std::memcpy(&low, code.data() + 1, bytes);
  const auto unused_bits = static_cast<unsigned>(64 - 8 * bytes);
  return static_cast<int64_t>(low << unused_bits) >> unused_bits;
}

// Whether these bytes are the code of some text. O(code).
bool IsCode(std::string_view bytes);

// The text of a code.
class PlainText {
 public:
  explicit PlainText(const ElementView& code) : view_(code) {
    if (!code.empty() && static_cast<uint8_t>(code[0]) >= CompactText::kFirstMarker) Decode(code);
  }
  PlainText(const PlainText&) = delete;
  PlainText& operator=(const PlainText&) = delete;

  // Lives as long as both this object and the code.
  ElementView view() const { return view_; }

 private:
  void Decode(std::string_view code);
  void DecodeHex(std::string_view digits);
  void DecodeSparse(std::string_view runs);

  ElementView view_;
  char buffer_[CompactText::kMaxSparseText];
};

}  // namespace tally
