// A list of words that is built up, such as those of an effect.
#pragma once

#include <absl/container/inlined_vector.h>

#include <string_view>

#include "core/words/word.h"

namespace tally {

using WordList = absl::InlinedVector<std::string_view, 16>;

// Appends the words one by one: for a few words insert() takes three times as long.
inline void AppendWords(WordList& list, Words words) {
  for (const std::string_view word : words) list.push_back(word);
}

}  // namespace tally
