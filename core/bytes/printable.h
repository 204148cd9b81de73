// Turns any bytes into text that fits in one line of UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tally {

// Returns the text, with "\xNN" for each byte that is an ASCII control character, a backslash, one
// of `special`, or not part of valid UTF-8. Different bytes give different texts. O(bytes).
std::string Printable(std::string_view bytes, std::string_view special = {});

}  // namespace tally
