#include "server/http/json_text.h"

#include <absl/strings/escaping.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "core/bytes/printable.h"
#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

constexpr uint64_t kOnes = 0x0101010101010101;
constexpr uint64_t kHighBits = 0x8080808080808080;

// Whether the character needs no escape in a JSON string.
bool IsPlainJson(char character) {
  return static_cast<uint8_t>(character) >= 0x20 && character != '"' && character != '\\' &&
         character != 0x7f;
}

// The letter after the backslash in the short escape of the character; 0 if it has none.
char ShortEscape(char character) {
  switch (character) {
    case '"':
    case '\\':
      return character;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

// Writes the escape of a character that is not plain, and returns the end of what was written.
char* WriteEscape(char* to, char character) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const char letter = ShortEscape(character);
  if (letter == 0) {
    const char escape[] = {'\\', 'u', '0', '0', kHex[character >> 4], kHex[character & 15]};
    return std::copy(std::begin(escape), std::end(escape), to);
  }
  *to++ = '\\';
  *to++ = letter;
  return to;
}

// Appends the escapes of the characters from `i` on that are not plain, up to the first one that
// is. Returns where that is. Appends many at a time, since values may have megabytes of them.
size_t AppendEscapes(std::string& out, std::string_view text, size_t i) {
  std::array<char, 384> escapes;
  constexpr size_t kLongest = 6;
  while (i < text.size() && !IsPlainJson(text[i])) {
    char* end = escapes.data();
    char* const last = escapes.data() + escapes.size() - kLongest;
    while (i < text.size() && end <= last && !IsPlainJson(text[i]))
      end = WriteEscape(end, text[i++]);
    out.append(escapes.data(), end);
  }
  return i;
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
  while (i < bytes.size() && IsPlainJson(bytes[i])) ++i;
  return i;
}

// Appends UTF-8 text with its quotes.
void AppendUtf8String(std::string& out, std::string_view text) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    const size_t end = PlainUntil(text, i);
    out.append(text, i, end - i);
    i = AppendEscapes(out, text, end);
  }
  out += '"';
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
    const size_t length = Utf8Length(bytes.substr(i));
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
  AppendUtf8String(out, bytes);
}

void AppendJsonText(std::string& out, std::string_view text) {
  if (IsUtf8(text)) return AppendUtf8String(out, text);
  std::string valid;
  for (size_t i = 0; i < text.size();) {
    const size_t length = Utf8Length(text.substr(i));
    valid += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(i, length);
    i += std::max<size_t>(length, 1);
  }
  AppendUtf8String(out, valid);
}

std::string_view ErrorCode(std::string_view text) { return text.substr(0, text.find(' ')); }

void AppendErrorJson(std::string& out, std::string_view text) {
  out += "{\"error\":";
  AppendJsonText(out, text);
  out += ",\"code\":";
  AppendJsonText(out, ErrorCode(text));
  out += '}';
}

}  // namespace tally::server
