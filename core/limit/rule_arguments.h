// Reads one rule: its arguments and its options.
#pragma once

#include <cstddef>

#include "core/limit/rule_forms.h"
#include "core/limit/rule_list.h"
#include "core/time/zone_source.h"
#include "core/words/word_reader.h"

namespace tally {

// Appends the rule of this form that begins at `index`, which is then after it. False on an error,
// with the reader's error set.
[[nodiscard]] bool ReadRule(const WordReader& in, size_t& index, const RuleForm& form,
                            ZoneSource& zones, RuleList& list);
// Says that a list has as many rules as it may; false.
bool TooManyRules(const WordReader& in);

}  // namespace tally
