// Writes strings of any bytes as JSON. A JSON string is Unicode text, so values with bytes that are
// not valid UTF-8 are written as an object, {"base64": "…"}.
#pragma once

#include <string>
#include <string_view>

namespace tally::server {

inline constexpr std::string_view kJsonType = "application/json";

// Whether the bytes are UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates. O(bytes).
bool IsUtf8(std::string_view bytes);

// Appends the string with its quotes, or the object. O(bytes).
void AppendJsonString(std::string& out, std::string_view bytes);

// Appends a text that people read, such as an error's, always as a string: each byte of it that is
// not valid UTF-8 becomes U+FFFD. O(bytes).
void AppendJsonText(std::string& out, std::string_view text);

// Appends an error as {"error": text, "code": its first word}. `text` is that of an error reply,
// such as "WRONGTYPE …".
void AppendErrorJson(std::string& out, std::string_view text);
// Returns the first word of an error's text.
std::string_view ErrorCode(std::string_view text);

}  // namespace tally::server
