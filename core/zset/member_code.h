// How one member of a sorted set is held in memory: after a tag byte, as text or, if the text is
// the canonical text of an int64, as an integer of 1 to 8 bytes.
//
//   tag 0..246    text of that many bytes, which follow
//   tag 247       text too long for a record; a pointer to it follows (IndexedZSet only)
//   tag 248..255  an integer in tag - 247 bytes, little-endian two's complement, which follow
//
// The order of members is that of their texts, also between integers: "10" < "9".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "core/bytes/counted_block.h"
#include "core/bytes/number.h"

namespace tally {

static_assert(std::endian::native == std::endian::little);

inline constexpr uint8_t kLongTextTag = 247;
inline constexpr size_t kMaxInlineText = kLongTextTag - 1;
// The longest encoded member, tag included.
inline constexpr size_t kMaxEncodedBytes = 1 + kMaxInlineText;

// A member as a caller names it: its text, and its number if it is one. Holds a view of the text.
struct MemberName {
  explicit MemberName(std::string_view member) : text(member), number(ParseInt64(member)) {}

  std::string_view text;
  std::optional<int64_t> number;
};

// How many bytes, 1 to 8, hold `value` so that sign extension restores it.
constexpr size_t IntegerBytes(int64_t value) {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  return static_cast<size_t>(std::bit_width(magnitude)) / 8 + 1;
}

// Whether the member is held without a block of its own.
inline bool FitsInline(const MemberName& name) {
  return name.number.has_value() || name.text.size() <= kMaxInlineText;
}

// Tag and payload of a member that fits inline.
inline size_t EncodedBytes(const MemberName& name) {
  return 1 + (name.number ? IntegerBytes(*name.number) : name.text.size());
}

// Writes EncodedBytes(name) bytes at `out`.
inline void EncodeMember(const MemberName& name, char* out) {
  if (name.number) {
    const size_t bytes = IntegerBytes(*name.number);
    *out = static_cast<char>(kLongTextTag + bytes);
    std::memcpy(out + 1, &*name.number, bytes);
  } else {
    *out = static_cast<char>(name.text.size());
    name.text.copy(out + 1, name.text.size());
  }
}

inline uint8_t EncodedTag(const char* encoded) { return static_cast<uint8_t>(*encoded); }

// The bytes that an encoded member takes, tag included. Not for kLongTextTag.
inline size_t EncodedBytes(const char* encoded) {
  const uint8_t tag = EncodedTag(encoded);
  return 1u + (tag > kLongTextTag ? tag - kLongTextTag : tag);
}

// The number of an encoded member, if it is one.
inline std::optional<int64_t> EncodedNumber(const char* encoded) {
  const uint8_t tag = EncodedTag(encoded);
  if (tag <= kLongTextTag) return std::nullopt;
  const unsigned bytes = tag - kLongTextTag;
  uint64_t low = 0;
  std::memcpy(&low, encoded + 1, bytes);
  const unsigned unused_bits = 64 - 8 * bytes;
  return static_cast<int64_t>(low << unused_bits) >> unused_bits;
}

// The text of an encoded member. Not for kLongTextTag. The view lives as long as both this object
// and the encoded member.
class MemberText {
 public:
  explicit MemberText(const char* encoded) {
    if (const std::optional<int64_t> number = EncodedNumber(encoded)) {
      const char* end = WriteInt64(digits_, *number);
      view_ = std::string_view(digits_, static_cast<size_t>(end - digits_));
    } else {
      view_ = std::string_view(encoded + 1, EncodedTag(encoded));
    }
  }
  // A text that is held elsewhere.
  explicit MemberText(const ElementView& text) : view_(text) {}
  MemberText(const MemberText&) = delete;
  MemberText& operator=(const MemberText&) = delete;

  ElementView view() const { return view_; }

 private:
  char digits_[kMaxInt64Chars];
  ElementView view_;
};

}  // namespace tally
