// The options of a call or a rule, each of which may be given once. A second one is an error, since
// nobody can say which of the two was meant.
#pragma once

#include <absl/container/inlined_vector.h>
#include <absl/strings/ascii.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "core/words/word.h"

namespace tally {

class OptionWords {
 public:
  // Whether `word` is this option and is given for the first time. `option` is in lower case and
  // must outlive the object. If it is given again, returns false, as for a word that is no option.
  bool Is(std::string_view word, std::string_view option) {
    if (!IsWord(word, option)) return false;
    if (std::ranges::find(given_, option) == given_.end()) {
      given_.push_back(option);
      return true;
    }
    repeated_ = option;
    return false;
  }

  // What is wrong, if an option is given twice; otherwise empty.
  std::string Error() const {
    if (repeated_.empty()) return {};
    return absl::AsciiStrToUpper(std::string(repeated_)) + " is given twice";
  }

 private:
  absl::InlinedVector<std::string_view, 4> given_;
  std::string_view repeated_;
};

}  // namespace tally
