// Turns any bytes into text that fits in one line of UTF-8.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tally {

// Returns the length of the valid UTF-8 character at the beginning of `bytes`, which must not be
// empty; 0 if there is none. By RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
size_t Utf8Length(std::string_view bytes);

// Returns the text, with "\xNN" for each byte that is an ASCII control character, a backslash, one
// of `special`, or not part of valid UTF-8. Different bytes give different texts. O(bytes).
std::string Printable(std::string_view bytes, std::string_view special = {});

}  // namespace tally
