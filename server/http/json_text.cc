#include "server/http/json_text.h"

#include <absl/strings/escaping.h>

#include <cstdint>
#include <cstring>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighBits = 0x8080808080808080;

uint8_t At(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

bool Continues(std::string_view bytes, size_t begin, size_t count) {
  for (size_t i = begin; i < begin + count; ++i) {
    if ((At(bytes, i) & 0xC0) != 0x80) return false;
  }
  return true;
}

// Returns the length in bytes of the UTF-8 character at `begin`; 0 if no valid one begins there.
size_t CharacterLength(std::string_view bytes, size_t begin) {
  const uint8_t first = At(bytes, begin);
  const size_t left = bytes.size() - begin;
  if (first < 0x80) return 1;
  if (first < 0xC2 || left < 2) return 0;
  const uint8_t second = At(bytes, begin + 1);
  if (first < 0xE0) return Continues(bytes, begin + 1, 1) ? 2 : 0;
  if (first < 0xF0) {
    const bool overlong = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second > 0x9F;
    return left >= 3 && !overlong && !surrogate && Continues(bytes, begin + 1, 2) ? 3 : 0;
  }
  const bool overlong = first == 0xF0 && second < 0x90;
  const bool too_high = first > 0xF4 || (first == 0xF4 && second > 0x8F);
  return left >= 4 && !overlong && !too_high && Continues(bytes, begin + 1, 3) ? 4 : 0;
}

void AppendEscaped(std::string& out, char character) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (character) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      StrAppend(out, "\\u00", kHex[static_cast<uint8_t>(character) >> 4], kHex[character & 15]);
  }
}

// Whether the character needs no escape in a JSON string.
bool IsPlain(char character) {
  return static_cast<uint8_t>(character) >= 0x20 && character != '"' && character != '\\' &&
         character != 0x7f;
}

// Whether one of the eight bytes is `byte`.
bool HasByte(uint64_t eight, uint8_t byte) {
  const uint64_t same_is_zero = eight ^ (kOnes * byte);
  return ((same_is_zero - kOnes) & ~same_is_zero & kHighBits) != 0;
}

// Returns the position of the first byte from `i` on that is not plain, or the size if all are.
// Looks at eight bytes at a time, since values may have megabytes.
size_t PlainUntil(std::string_view bytes, size_t i) {
  uint64_t eight;
  for (; bytes.size() - i >= sizeof eight; i += sizeof eight) {
    std::memcpy(&eight, bytes.data() + i, sizeof eight);
    const bool control = ((eight - kOnes * 0x20) & ~eight & kHighBits) != 0;
    if (control || HasByte(eight, '"') || HasByte(eight, '\\') || HasByte(eight, 0x7f)) break;
  }
  while (i < bytes.size() && IsPlain(bytes[i])) ++i;
  return i;
}

}  // namespace

bool IsUtf8(std::string_view bytes) {
  size_t i = 0;
  while (i < bytes.size()) {
    uint64_t eight;
    if (bytes.size() - i >= sizeof eight) {
      std::memcpy(&eight, bytes.data() + i, sizeof eight);
      if ((eight & kHighBits) == 0) {
        i += sizeof eight;
        continue;
      }
    }
    const size_t length = CharacterLength(bytes, i);
    if (length == 0) return false;
    i += length;
  }
  return true;
}

void AppendJsonString(std::string& out, std::string_view bytes) {
  if (!IsUtf8(bytes)) {
    std::string encoded;
    absl::Base64Escape({bytes.data(), bytes.size()}, &encoded);
    StrAppend(out, "{\"base64\":\"", encoded, "\"}");
    return;
  }
  out += '"';
  for (size_t i = 0; i < bytes.size(); ++i) {
    const size_t end = PlainUntil(bytes, i);
    out.append(bytes, i, end - i);
    if (end < bytes.size()) AppendEscaped(out, bytes[end]);
    i = end;
  }
  out += '"';
}

}  // namespace tally::server
