// Any bytes as text that can stand in a line of UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace tally {

// The text with each byte that is a control character, a backslash, one of `special` or no part of
// valid UTF-8 as "\xNN". Different bytes give different texts. O(bytes).
std::string Printable(std::string_view bytes, std::string_view special = {});

}  // namespace tally
