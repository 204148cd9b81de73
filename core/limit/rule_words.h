// The rules of rate limiting as words, without their keys:
//
//   FIXED limit period [FROM instant] | SLIDING limit period | ROLLING limit period
//   BUCKET capacity refill period
//   CALENDAR limit unit [TZ zone] [STARTS start] [WEEKSTART monday|sunday]
//   BASE base limit period [TZ zone] [STARTS time]
//   LOCKOUT limit period block [GROW factor MAX most]
//   CONCURRENT limit | ALLOW | DENY | POLICY name | SHADOW rule | HOLDS longest [share]
#pragma once

#include <cstddef>

#include "core/limit/policy_table.h"
#include "core/limit/rule_list.h"
#include "core/time/zone_source.h"
#include "core/words/word_reader.h"

namespace tally {

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
  bool ReadShadow(const WordReader& in, size_t& index, RuleList& list, bool may_name_policy) const;
  bool ReadShadowOfPolicy(const WordReader& in, size_t index, RuleList& list) const;
  Policy* FindPolicy(const WordReader& in, size_t index) const;
  bool ReadPolicy(const WordReader& in, size_t index, RuleList& list) const;
  bool Compile(const WordReader& in, Policy& policy, RuleList& list) const;

  ZoneSource& zones_;
  PolicyTable& policies_;
};

}  // namespace tally
