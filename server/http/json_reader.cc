#include "server/http/json_reader.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <charconv>

namespace tally::server {
namespace {

bool IsHighSurrogate(uint32_t code) { return code >= 0xD800 && code <= 0xDBFF; }
bool IsLowSurrogate(uint32_t code) { return code >= 0xDC00 && code <= 0xDFFF; }

void AppendUtf8(std::string& out, uint32_t code) {
  const auto tail = [code](int shift) {
    return static_cast<char>(0x80 | ((code >> shift) & 0x3F));
  };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += {static_cast<char>(0xC0 | (code >> 6)), tail(0)};
  } else if (code < 0x10000) {
    out += {static_cast<char>(0xE0 | (code >> 12)), tail(6), tail(0)};
  } else {
    out += {static_cast<char>(0xF0 | (code >> 18)), tail(12), tail(6), tail(0)};
  }
}

}  // namespace

JsonToken JsonReader::Next() {
  next_ = std::min(json_.find_first_not_of(" \t\r\n", next_), json_.size());
  begin_ = next_;
  if (next_ == json_.size()) return JsonToken::kEnd;
  switch (json_[next_]) {
    case '[':
      return Take(1, JsonToken::kArray);
    case ']':
      return Take(1, JsonToken::kArrayEnd);
    case '{':
      return Take(1, JsonToken::kObject);
    case '}':
      return Take(1, JsonToken::kObjectEnd);
    case ',':
      return Take(1, JsonToken::kComma);
    case ':':
      return Take(1, JsonToken::kColon);
    case '"':
      return TakeString();
    case 't':
      return TakeWord("true", JsonToken::kTrue);
    case 'f':
      return TakeWord("false", JsonToken::kFalse);
    case 'n':
      return TakeWord("null", JsonToken::kNull);
    default:
      return TakeNumber();
  }
}

JsonToken JsonReader::Take(size_t size, JsonToken token) {
  next_ += size;
  return token;
}

JsonToken JsonReader::TakeWord(std::string_view word, JsonToken token) {
  return At(word) ? Take(word.size(), token) : JsonToken::kNone;
}

bool JsonReader::TakeDigits() {
  const size_t first = next_;
  while (next_ < json_.size() && absl::ascii_isdigit(static_cast<unsigned char>(json_[next_])))
    ++next_;
  return next_ > first;
}

JsonToken JsonReader::TakeNumber() {
  if (At("-")) ++next_;
  // No digit may follow a zero at the front.
  if (At("0")) {
    ++next_;
  } else if (!TakeDigits()) {
    return JsonToken::kNone;
  }
  if (At(".")) {
    ++next_;
    if (!TakeDigits()) return JsonToken::kNone;
  }
  if (At("e") || At("E")) {
    ++next_;
    if (At("+") || At("-")) ++next_;
    if (!TakeDigits()) return JsonToken::kNone;
  }
  text_ = json_.substr(begin_, next_ - begin_);
  return JsonToken::kNumber;
}

JsonToken JsonReader::TakeString() {
  characters_.clear();
  size_t plain = ++next_;  // where the characters begin that are not in characters_ yet
  for (; next_ < json_.size(); ++next_) {
    const auto byte = static_cast<uint8_t>(json_[next_]);
    if (byte < 0x20) return JsonToken::kNone;
    if (byte != '"' && byte != '\\') continue;
    const std::string_view run = json_.substr(plain, next_ - plain);
    ++next_;
    if (byte == '"' && characters_.empty()) {
      text_ = run;
      return JsonToken::kString;
    }
    characters_ += run;
    if (byte == '"') {
      text_ = characters_;
      return JsonToken::kString;
    }
    if (!TakeEscape()) return JsonToken::kNone;
    plain = next_--;
  }
  return JsonToken::kNone;
}

bool JsonReader::TakeEscape() {
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  if (next_ == json_.size()) return false;
  const char letter = json_[next_++];
  if (letter == 'u') return TakeCodePoint();
  const size_t index = kLetters.find(letter);
  if (index == std::string_view::npos) return false;
  characters_ += kMeanings[index];
  return true;
}

bool JsonReader::TakeCodePoint() {
  uint32_t code = 0;
  if (!TakeHex(code) || IsLowSurrogate(code)) return false;
  if (IsHighSurrogate(code)) {
    uint32_t low = 0;
    if (!At("\\u")) return false;
    next_ += 2;
    if (!TakeHex(low) || !IsLowSurrogate(low)) return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
  }
  AppendUtf8(characters_, code);
  return true;
}

bool JsonReader::TakeHex(uint32_t& value) {
  constexpr size_t kDigits = 4;
  const std::string_view digits = json_.substr(next_, kDigits);
  const char* const end = digits.data() + digits.size();
  const auto parsed = std::from_chars(digits.data(), end, value, 16);
  if (digits.size() < kDigits || parsed.ec != std::errc() || parsed.ptr != end) return false;
  next_ += kDigits;
  return true;
}

}  // namespace tally::server
