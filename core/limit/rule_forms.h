// What each kind of rule looks like in words: its name, its arguments and its options.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/limit_rule.h"
#include "core/words/word.h"

namespace tally {

struct RuleForm {
  std::string_view word;
  LimitAlgorithm algorithm;
  size_t arguments;        // how many, without options
  std::string_view needs;  // the names of the arguments
  std::string_view options;
  std::string_view summary;
};

// Returns null if the word begins no rule.
const RuleForm* FormOf(std::string_view word);

// Whether the word is the share of HOLDS: no option, and no other rule, begins with a digit.
bool IsShare(Words words, size_t index);

// Returns how many words a rule that begins at `index` has, without the options that have a name; 0
// if no rule begins there (POLICY does not, and SHADOW is one word before a rule).
size_t RuleLength(Words words, size_t index);

// For people: each rule with its syntax and, on the next line, what it does.
std::vector<std::string> RuleHelp();

}  // namespace tally
