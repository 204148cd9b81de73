#include "core/limit/rule_words.h"

#include <string>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/limit/rule_arguments.h"

namespace tally {
namespace {

bool NoRule(const WordReader& in, size_t index, std::string_view those) {
  return in.Fail(
      StrCat("rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, LOCKOUT, CONCURRENT, ",
             those, ", not '", in.words[index].substr(0, 128), "'"));
}

}  // namespace

// Reads the rule at `index`, which comes after SHADOW.
bool RuleParser::ReadShadow(const WordReader& in, size_t& index, RuleList& list,
                            bool may_name_policy) const {
  if (index == in.words.size()) return in.Fail("SHADOW needs: rule");
  const std::string_view word = in.words[index];
  if (may_name_policy && IsWord(word, "policy")) {
    if (!ReadShadowOfPolicy(in, index + 1, list)) return false;
    index += 2;
    return true;
  }
  if (IsWord(word, "shadow")) return in.Fail("SHADOW of SHADOW is no rule: say it once");
  const RuleForm* form = FormOf(word);
  if (form == nullptr) return NoRule(in, index, "ALLOW or DENY after SHADOW");
  if (form->algorithm == LimitAlgorithm::kLockout) {
    return in.Fail("SHADOW of LOCKOUT is no rule: a block that blocks nobody lasts for ever");
  }
  if (form->algorithm == LimitAlgorithm::kHolds) return in.Fail("SHADOW of HOLDS is no rule");
  if (list.keeps_words) list.words.push_back("SHADOW");
  if (!ReadRule(in, index, *form, zones_, list)) return false;
  list.rules.back().shadow = true;
  return true;
}

// Reads all rules of a policy as if each came after SHADOW, but for HOLDS, which denies nothing
// then.
bool RuleParser::ReadShadowOfPolicy(const WordReader& in, size_t index, RuleList& list) const {
  Policy* policy = FindPolicy(in, index);
  if (policy == nullptr) return false;
  const WordList words(policy->words().begin(), policy->words().end());
  const size_t begin = list.rules.size();
  const WordReader own = in.Of(Words(words.data(), words.size()));
  for (size_t place = 0; place < words.size();) {
    if (IsWord(words[place], "holds")) {
      place += RuleLength(own.words, place);
      continue;
    }
    if (!ReadShadow(own, place, list, false)) return false;
  }
  const std::span<LimitRule> rules(list.rules.begin() + begin, list.rules.end());
  for (LimitRule& rule : rules) rule.policy = &policy->tally();
  return true;
}

Policy* RuleParser::FindPolicy(const WordReader& in, size_t index) const {
  if (index == in.words.size()) {
    static_cast<void>(in.Fail("POLICY needs: name"));
    return nullptr;
  }
  const std::string_view name = in.words[index];
  Policy* policy = policies_.Find(name);
  if (policy == nullptr) {
    static_cast<void>(
        in.Fail(StrCat("POLICY must be the name of one, there is no '", name.substr(0, 128), "'")));
  }
  return policy;
}

bool RuleParser::ReadPolicy(const WordReader& in, size_t index, RuleList& list) const {
  Policy* policy = FindPolicy(in, index);
  if (policy == nullptr) return false;
  const std::span<const LimitRule> rules = policy->rules();
  if (rules.empty()) return Compile(in, *policy, list);
  if (list.rules.size() + rules.size() > kMaxRules) return TooManyRules(in);
  list.rules.insert(list.rules.end(), rules.begin(), rules.end());
  if (!list.keeps_words) return true;
  for (const std::string& word : policy->words()) list.words.push_back(word);
  return true;
}

// Appends the rules of a policy that has only been loaded yet, and keeps them for the next time.
bool RuleParser::Compile(const WordReader& in, Policy& policy, RuleList& list) const {
  const WordList words(policy.words().begin(), policy.words().end());
  const size_t begin = list.rules.size();
  if (!ReadPlain(in.Of(Words(words.data(), words.size())), list)) return false;
  const std::span<LimitRule> rules(list.rules.begin() + begin, list.rules.end());
  for (LimitRule& rule : rules) rule.policy = &policy.tally();
  policy.SetRules(rules);
  return true;
}

bool RuleParser::Read(const WordReader& in, size_t& index, RuleList& list) const {
  const size_t begin = index;
  while (index < in.words.size()) {
    if (const RuleForm* form = FormOf(in.words[index])) {
      if (!ReadRule(in, index, *form, zones_, list)) return false;
    } else if (IsWord(in.words[index], "policy")) {
      if (!ReadPolicy(in, index + 1, list)) return false;
      index += 2;
    } else if (IsWord(in.words[index], "shadow")) {
      if (!ReadShadow(in, ++index, list, true)) return false;
    } else {
      break;
    }
  }
  if (index > begin) return true;
  return begin < in.words.size() && NoRule(in, begin, "ALLOW, DENY or POLICY");
}

bool RuleParser::ReadPlain(const WordReader& in, RuleList& list) const {
  for (size_t index = 0; index < in.words.size();) {
    if (IsWord(in.words[index], "shadow")) {
      if (!ReadShadow(in, ++index, list, false)) return false;
      continue;
    }
    const RuleForm* form = FormOf(in.words[index]);
    if (form == nullptr) return NoRule(in, index, "HOLDS, ALLOW or DENY in a policy");
    if (!ReadRule(in, index, *form, zones_, list)) return false;
  }
  return true;
}

}  // namespace tally
