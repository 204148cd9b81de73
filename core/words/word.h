// Words: what a request, a rule or a logged effect is made of.
#pragma once

#include <span>
#include <string_view>

namespace tally {

using Words = std::span<const std::string_view>;

// Whether both, of one size, are the same in any case; `lower` is lower case.
bool SameLetters(std::string_view word, std::string_view lower);

// Compares a word in any case; `lower` is lower case.
inline bool IsWord(std::string_view word, std::string_view lower) {
  return word.size() == lower.size() && SameLetters(word, lower);
}

}  // namespace tally
