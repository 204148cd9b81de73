// The rules of rate limiting as words, without their keys:
//
//   FIXED limit period [FROM instant] | SLIDING limit period | ROLLING limit period
//   BUCKET capacity refill period
//   CALENDAR limit unit [TZ zone] [STARTS start] [WEEKSTART monday|sunday]
//   BASE base limit period [TZ zone] [STARTS time]
//   LOCKOUT limit period block [GROW factor MAX most]
//   CONCURRENT limit | ALLOW | DENY | POLICY name | SHADOW rule | HOLDS longest [share]
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/limit_rule.h"
#include "core/limit/policy_table.h"
#include "core/time/zone_source.h"
#include "core/words/word_list.h"
#include "core/words/word_reader.h"

namespace tally {

inline constexpr size_t kMaxRules = 64;  // in one decision, including the rules of policies

struct RuleForm;

struct RuleList {
  absl::InlinedVector<LimitRule, 4> rules;
  bool keeps_words = true;  // false if nobody will read `words`, which then stay empty
  // The words of the rules. The words of a policy replace POLICY and its name, and zones are
  // spelled as in their source. Valid as long as the words that were read, the policies and the
  // zones.
  WordList words;
};

// Reads rules; a rule points to the zone that it names. O(words).
class RuleParser {
 public:
  RuleParser(ZoneSource& zones, PolicyTable& policies) : zones_(zones), policies_(policies) {}

  // Appends the rules that begin at `index`, at least one, and stops at the first word that begins
  // no rule: `index` is then there. Returns false on an error, with the reader's error set; the
  // error stays empty if there is no word at `index`.
  [[nodiscard]] bool Read(const WordReader& in, size_t& index, RuleList& list) const;
  // Reads all words as rules, perhaps none. POLICY is an error here.
  [[nodiscard]] bool ReadPlain(const WordReader& in, RuleList& list) const;

 private:
  bool ReadOptions(const WordReader& in, size_t& index, const RuleForm& form, RuleList& list) const;
  bool ReadShadow(const WordReader& in, size_t& index, RuleList& list, bool may_name_policy) const;
  bool ReadShadowOfPolicy(const WordReader& in, size_t index, RuleList& list) const;
  Policy* FindPolicy(const WordReader& in, size_t index) const;
  bool ReadPolicy(const WordReader& in, size_t index, RuleList& list) const;
  bool Compile(const WordReader& in, Policy& policy, RuleList& list) const;
  bool ReadRule(const WordReader& in, size_t& index, const RuleForm& form, RuleList& list) const;

  ZoneSource& zones_;
  PolicyTable& policies_;
};

// Returns how many words a rule that begins at `index` has, without the options that have a name; 0
// if no rule begins there (POLICY does not, and SHADOW is one word before a rule).
size_t RuleLength(Words words, size_t index);

// For people: each rule with its syntax and, on the next line, what it does.
std::vector<std::string> RuleHelp();

}  // namespace tally
