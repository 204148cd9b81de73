// Words: the parts of a request, a rule or a logged effect.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tally {

using Words = std::span<const std::string_view>;

// Whether both are equal if the case of ASCII letters is ignored. They must have the same size, and
// `lower` must be in lower case.
bool SameLetters(std::string_view word, std::string_view lower);

// The same for any two sizes; `lower` must be in lower case.
inline bool IsWord(std::string_view word, std::string_view lower) {
  return word.size() == lower.size() && SameLetters(word, lower);
}

// Returns the text before the first `separator`, or all of it, and removes it and the separator
// from `text`.
inline std::string_view TakeUntil(std::string_view& text, char separator) {
  const size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == text.npos ? text.size() : end + 1);
  return part;
}

}  // namespace tally
