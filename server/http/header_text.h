// The bytes of names in headers, and the parts of their values.
#pragma once

#include <absl/strings/ascii.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace tally::server {

// Whether the byte may be in the name of a header.
inline bool IsTokenByte(char byte) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return absl::ascii_isalnum(static_cast<unsigned char>(byte)) ||
         kMarks.find(byte) != std::string_view::npos;
}

// Whether the byte may be in the value of a header, or in other text of a line.
inline bool IsTextByte(char byte) {
  return byte == '\t' || !absl::ascii_iscntrl(static_cast<unsigned char>(byte));
}

// Returns the text without the white space around it.
inline std::string_view Trim(std::string_view text) {
  const auto trimmed = absl::StripAsciiWhitespace(absl::string_view(text.data(), text.size()));
  return {trimmed.data(), trimmed.size()};
}

// Splits `text` at the first `separator`. Returns the trimmed text before it, and leaves in `text`
// what is after it. Without a separator that is nothing.
inline std::string_view TakePart(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = Trim(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace tally::server
