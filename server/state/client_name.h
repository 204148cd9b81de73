// Names that clients give themselves, as CLIENT LIST shows them.
#pragma once

#include <algorithm>
#include <string_view>

namespace tally::server {

inline constexpr std::string_view kClientNameError =
    "ERR Client names cannot contain spaces, newlines or special characters.";

// Whether the name is printable ASCII without blanks, so that a line of CLIENT LIST can be split at
// blanks.
inline bool IsClientName(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
}

}  // namespace tally::server
