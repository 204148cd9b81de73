// Takes a JSON text (RFC 8259) apart into tokens. It judges tokens; their order is for the caller
// to judge. Numbers stay the text that they are: no program's range or rounding changes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tally::server {

enum class JsonToken : uint8_t {
  kArray,
  kArrayEnd,
  kObject,
  kObjectEnd,
  kComma,
  kColon,
  kString,
  kNumber,
  kTrue,
  kFalse,
  kNull,
  kEnd,   // of the text: nothing but white space was left
  kNone,  // the bytes at position() are no token; nothing may be read after it
};

class JsonReader {
 public:
  // `json` must be UTF-8, and outlive this.
  explicit JsonReader(std::string_view json) : json_(json) {}

  // O(bytes taken).
  JsonToken Next();
  // The last token's text: a string's characters without its quotes and escapes, or a number as it
  // is written. Valid until the next token is read.
  std::string_view text() const { return text_; }
  // The number of bytes before the last token.
  size_t position() const { return begin_; }

 private:
  JsonToken Take(size_t size, JsonToken token);
  JsonToken TakeWord(std::string_view word, JsonToken token);
  JsonToken TakeNumber();
  JsonToken TakeString();
  // Takes digits. Returns false if there is none.
  bool TakeDigits();
  // Appends to characters_ what the escape after a backslash means. Returns false if it means
  // nothing.
  bool TakeEscape();
  // Takes `\uXXXX` after its `u`; of a surrogate also the other half that must follow.
  bool TakeCodePoint();
  bool TakeHex(uint32_t& value);
  bool At(std::string_view bytes) const { return json_.substr(next_).starts_with(bytes); }

  std::string_view json_;
  size_t begin_ = 0;        // of the last token
  size_t next_ = 0;         // the first byte that is not taken
  std::string characters_;  // of a string with escapes
  std::string_view text_;
};

}  // namespace tally::server
