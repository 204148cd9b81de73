// The rules of one decision, and the words that say them.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>

#include "core/limit/limit_rule.h"
#include "core/words/word_list.h"

namespace tally {

inline constexpr size_t kMaxRules = 64;  // in one decision, including the rules of policies

struct RuleList {
  absl::InlinedVector<LimitRule, 4> rules;
  bool keeps_words = true;  // false if nobody will read `words`, which then stay empty
  // The words of the rules. The words of a policy replace POLICY and its name, and zones are
  // spelled as in their source. Valid as long as the words that were read, the policies and the
  // zones.
  WordList words;
};

}  // namespace tally
