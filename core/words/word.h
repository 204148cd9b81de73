// Words: the parts of a request, a rule or a logged effect.
#pragma once

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

}  // namespace tally
