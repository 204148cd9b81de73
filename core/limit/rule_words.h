// The rules of rate limiting as words, without their keys:
//
//   FIXED limit period | SLIDING limit period | ROLLING limit period
//   BUCKET capacity refill period
//   CALENDAR limit unit [TZ zone] [WEEKSTART monday|sunday] | BASE base limit period [TZ zone]
//   ALLOW | DENY | POLICY name
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/limit_rule.h"
#include "core/limit/policy_table.h"
#include "core/time/zone_source.h"
#include "core/words/word_reader.h"

namespace tally {

inline constexpr size_t kMaxRules = 64;  // of one decision, those of policies included

using WordList = absl::InlinedVector<std::string_view, 16>;

struct RuleForm;

struct RuleList {
  absl::InlinedVector<LimitRule, 4> rules;
  // Their words, with those of a policy in its name's place and zones as their source spells them.
  // Valid as long as the words that were read, the policies and the zones.
  WordList words;
};

// Reads rules; a rule points to the zone that it names. O(words).
class RuleParser {
 public:
  RuleParser(ZoneSource& zones, const PolicyTable& policies) : zones_(zones), policies_(policies) {}

  // Appends the rules in the words from `index` on, at least one, up to a word that begins none,
  // where it leaves `index`. False with the reader's error set, or empty where words are missing.
  [[nodiscard]] bool Read(const WordReader& in, size_t& index, RuleList& list) const;
  // The same for words that are all rules and name no policy.
  [[nodiscard]] bool ReadPlain(const WordReader& in, RuleList& list) const;

 private:
  bool ReadOptions(const WordReader& in, size_t& index, RuleList& list) const;
  bool ReadPolicy(const WordReader& in, size_t index, RuleList& list) const;
  bool ReadRule(const WordReader& in, size_t& index, const RuleForm& form, RuleList& list) const;

  ZoneSource& zones_;
  const PolicyTable& policies_;
};

// How many words the rule takes that begins with this one, without options; 0 if it begins none.
size_t RuleLength(std::string_view word);

// For people: each rule with its syntax and, on the next line, what it does.
std::vector<std::string> RuleHelp();

}  // namespace tally
