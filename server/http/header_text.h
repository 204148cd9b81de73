// Splits the value of a header into its parts.
#pragma once

#include <algorithm>
#include <string_view>

namespace tally::server {

// Returns the text without the spaces and tabs around it.
inline std::string_view Trim(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  return text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
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
