#include "core/limit/rule_words.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"

namespace tally {

using Algorithm = LimitAlgorithm;

struct RuleForm {
  std::string_view word;
  Algorithm algorithm;
  size_t arguments;        // how many, without options
  std::string_view needs;  // the names of the arguments
  std::string_view options;
  std::string_view summary;
};

namespace {

constexpr RuleForm kForms[] = {
    {"fixed", Algorithm::kFixed, 2, "limit period", "[FROM instant]",
     "A window opens at the first hit and closes a period later, or they follow one another."},
    {"calendar", Algorithm::kCalendar, 2, "limit unit",
     "[TZ zone] [STARTS start] [WEEKSTART monday|sunday]",
     "Each second, minute, hour, day, week, month or year of the zone's calendar is a window."},
    {"sliding", Algorithm::kSliding, 2, "limit period", "",
     "At most limit hits in any window of that length, exact."},
    {"rolling", Algorithm::kRolling, 2, "limit period", "",
     "Two counters, weighted: approximate, of constant size."},
    {"bucket", Algorithm::kBucket, 3, "capacity refill period", "",
     "A token bucket: refill tokens each period, at most capacity saved."},
    {"base", Algorithm::kBase, 3, "base limit period", "[TZ zone] [STARTS time]",
     "The day's first base hits are free, from then on limit hits in each period."},
    {"lockout", Algorithm::kLockout, 3, "limit period block", "[GROW factor MAX most]",
     "At most limit hits in a period; the last one starts a block, in which all are denied."},
    {"concurrent", Algorithm::kConcurrent, 1, "limit", "",
     "At most limit held at once; only for LIMIT.RESERVE."},
    {"holds", Algorithm::kHolds, 1, "longest", "[share]",
     "In a policy: no hold is longer, and none takes a larger share of a limit than this (0.5)."},
    {"allow", Algorithm::kAllow, 0, "", "", "Always allows."},
    {"deny", Algorithm::kDeny, 0, "", "", "Always denies."},
};

std::string Upper(std::string_view word) {
  return absl::AsciiStrToUpper({word.data(), word.size()});
}

// Returns null if the word begins no rule.
const RuleForm* FormOf(std::string_view word) {
  for (const RuleForm& form : kForms) {
    if (IsWord(word, form.word)) return &form;
  }
  return nullptr;
}

bool ReadUnit(const WordReader& in, size_t index, CalendarUnit& unit) {
  for (size_t i = 0; i < std::size(kUnitNames); ++i) {
    if (!IsWord(in.words[index], kUnitNames[i])) continue;
    unit = static_cast<CalendarUnit>(i);
    return true;
  }
  return in.Fail("unit must be second, minute, hour, day, week, month or year");
}

bool ReadWeekStart(const WordReader& in, size_t index, LimitRule& rule) {
  const bool sunday = IsWord(in.words[index], "sunday");
  if (!sunday && !IsWord(in.words[index], "monday")) {
    return in.Fail("WEEKSTART must be monday or sunday");
  }
  // Other units have no first day of the week.
  if (sunday && rule.unit == CalendarUnit::kWeek) rule.start = kSundayWeek;
  return true;
}

bool ReadStart(const WordReader& in, size_t index, LimitRule& rule) {
  const std::string_view form = CalendarStartForm(rule.unit);
  if (form.empty()) return in.Fail("STARTS is only for a day, week, month or year");
  const auto start = ParseCalendarStart(in.words[index], rule.unit);
  if (!start) return in.Fail(StrCat("STARTS must be ", form));
  rule.start = *start;
  return true;
}

// Reads a number that may have up to three digits after the point, as thousandths.
bool ReadThousandths(std::string_view text, int64_t& number) {
  const size_t point = std::min(text.find('.'), text.size());
  const std::string_view part = text.substr(std::min(point + 1, text.size()));
  if (point == 0 || part.size() > 3 || (point < text.size() && part.empty())) return false;
  std::string digits(text.substr(0, point));
  StrAppend(digits, part);
  digits.append(3 - part.size(), '0');
  if (digits.find_first_not_of("0123456789") != std::string::npos) return false;
  const size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
  return ReadInt64(digits.substr(first), number);
}

bool ReadFactor(const WordReader& in, size_t index, int64_t& factor) {
  constexpr int64_t kMost = 1'000'000 * LockoutBlock::kOne;
  return (ReadThousandths(in.words[index], factor) && factor >= LockoutBlock::kOne &&
          factor <= kMost) ||
         in.Fail("GROW must be a number from 1 to 1000000, with at most 3 digits after the point");
}

// Whether the word is the share of HOLDS: no option, and no other rule, begins with a digit.
bool IsShare(Words words, size_t index) {
  return index < words.size() && !words[index].empty() && words[index][0] >= '0' &&
         words[index][0] <= '9';
}

bool ReadShare(const WordReader& in, size_t index, int64_t& share) {
  return (ReadThousandths(in.words[index], share) && share > 0 && share <= kWholeShare) ||
         in.Fail("share must be above 0 and at most 1, with at most 3 digits after the point");
}

// Reads the arguments that follow the rule's word at `index`.
bool ReadNumbers(const WordReader& in, size_t index, LimitRule& rule) {
  switch (rule.algorithm) {
    case Algorithm::kAllow:
    case Algorithm::kDeny:
      return true;
    case Algorithm::kConcurrent:
      return in.Count(index + 1, "limit", 0, rule.limit);
    case Algorithm::kHolds:
      rule.limit = kWholeShare / 2;
      return in.Duration(index + 1, "longest", rule.period_ms);
    case Algorithm::kCalendar:
      return in.Count(index + 1, "limit", 0, rule.limit) && ReadUnit(in, index + 2, rule.unit);
    case Algorithm::kBucket:
      return in.Count(index + 1, "capacity", 0, rule.limit) &&
             in.Count(index + 2, "refill", 1, rule.refill) &&
             in.Duration(index + 3, "period", rule.period_ms);
    case Algorithm::kBase:
      return in.Count(index + 1, "base", 0, rule.base) &&
             in.Count(index + 2, "limit", 0, rule.limit) &&
             in.Duration(index + 3, "period", rule.period_ms);
    case Algorithm::kLockout:
      return in.Count(index + 1, "limit", 0, rule.limit) &&
             in.Duration(index + 2, "period", rule.period_ms) &&
             in.Duration(index + 3, "block", rule.block.first_ms);
    default:
      return in.Count(index + 1, "limit", 0, rule.limit) &&
             in.Duration(index + 2, "period", rule.period_ms);
  }
}

bool TooManyRules(const WordReader& in) {
  return in.Fail(StrCat("rules must be at most ", kMaxRules, " in one command"));
}

bool NoRule(const WordReader& in, size_t index, std::string_view those) {
  return in.Fail(
      StrCat("rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, LOCKOUT, CONCURRENT, ",
             those, ", not '", in.words[index].substr(0, 128), "'"));
}

// The options of a rule, each of which is a word and its value.
enum class Option : uint8_t { kTz, kWeekStart, kStarts, kFrom, kGrow, kLongest };

struct OptionForm {
  std::string_view word;
  Option option;
  Algorithm of;
};

constexpr OptionForm kOptions[] = {
    {"tz", Option::kTz, Algorithm::kCalendar},
    {"weekstart", Option::kWeekStart, Algorithm::kCalendar},
    {"starts", Option::kStarts, Algorithm::kCalendar},
    {"tz", Option::kTz, Algorithm::kBase},
    {"starts", Option::kStarts, Algorithm::kBase},
    {"from", Option::kFrom, Algorithm::kFixed},
    {"grow", Option::kGrow, Algorithm::kLockout},
    {"max", Option::kLongest, Algorithm::kLockout},
};

// Which options of a rule were given, each at most once.
class GivenOptions {
 public:
  // Sets the error if the option is given twice, or with another that says the same.
  bool Add(const WordReader& in, const OptionForm& form) {
    if (Has(form.option)) return in.Fail(StrCat(Upper(form.word), " is given twice"));
    given_ |= BitOf(form.option);
    if (!Has(Option::kStarts) || !Has(Option::kWeekStart)) return true;
    return in.Fail("STARTS and WEEKSTART say the same: give one of them");
  }
  // Sets the error if an option lacks another one that it needs.
  bool Check(const WordReader& in) const {
    if (Has(Option::kGrow) == Has(Option::kLongest)) return true;
    return in.Fail(Has(Option::kGrow) ? "GROW needs: MAX most" : "MAX needs: GROW factor");
  }

 private:
  static unsigned BitOf(Option option) { return 1u << static_cast<unsigned>(option); }
  bool Has(Option option) const { return (given_ & BitOf(option)) != 0; }

  unsigned given_ = 0;
};

// Returns null if the word is no option of such rules.
const OptionForm* OptionOf(std::string_view word, Algorithm algorithm) {
  for (const OptionForm& form : kOptions) {
    if (form.of == algorithm && IsWord(word, form.word)) return &form;
  }
  return nullptr;
}

// Reads the value of an option. `value` may become another spelling of it.
bool ReadOption(const WordReader& in, size_t index, Option option, LimitRule& rule,
                ZoneSource& zones, std::string_view& value) {
  switch (option) {
    case Option::kTz:
      rule.zone = in.ZoneAt(index, zones);
      if (rule.zone == nullptr) return false;
      value = rule.zone->name();
      return true;
    case Option::kWeekStart:
      return ReadWeekStart(in, index, rule);
    case Option::kStarts:
      return ReadStart(in, index, rule);
    case Option::kFrom:
      return in.Instant(index, "FROM", rule.from_ms);
    case Option::kGrow:
      return ReadFactor(in, index, rule.block.factor);
    default:
      return in.Duration(index, "MAX", rule.block.most_ms);
  }
}

}  // namespace

// Reads the options from `index` on, if the rule has any. `list.words` gets the zone's own name.
bool RuleParser::ReadOptions(const WordReader& in, size_t& index, const RuleForm& form,
                             RuleList& list) const {
  LimitRule& rule = list.rules.back();
  if (form.options.empty()) return true;
  if (rule.algorithm == Algorithm::kHolds) {
    if (!IsShare(in.words, index)) return true;
    if (!ReadShare(in, index, rule.limit)) return false;
    if (list.keeps_words) list.words.push_back(in.words[index]);
    ++index;
    return true;
  }
  const bool has_zone =
      rule.algorithm == Algorithm::kCalendar || rule.algorithm == Algorithm::kBase;
  if (has_zone) rule.zone = &zones_.utc();
  GivenOptions given;
  for (; index < in.words.size(); index += 2) {
    const OptionForm* option = OptionOf(in.words[index], rule.algorithm);
    if (option == nullptr) break;
    if (index + 1 == in.words.size()) {
      return in.Fail(StrCat(Upper(form.word), " needs: ", form.needs, " ", form.options));
    }
    std::string_view value = in.words[index + 1];
    if (!given.Add(in, *option)) return false;
    if (!ReadOption(in, index + 1, option->option, rule, zones_, value)) return false;
    if (list.keeps_words) {
      list.words.push_back(in.words[index]);
      list.words.push_back(value);
    }
  }
  return given.Check(in);
}

bool RuleParser::ReadRule(const WordReader& in, size_t& index, const RuleForm& form,
                          RuleList& list) const {
  if (list.rules.size() == kMaxRules) return TooManyRules(in);
  if (index + form.arguments >= in.words.size()) {
    return in.Fail(StrCat(Upper(form.word), " needs: ", form.needs));
  }
  LimitRule& rule = list.rules.emplace_back();
  rule.algorithm = form.algorithm;
  if (!ReadNumbers(in, index, rule)) return false;
  const Words own = in.words.subspan(index, 1 + form.arguments);
  index += own.size();
  if (list.keeps_words) AppendWords(list.words, own);
  if (!ReadOptions(in, index, form, list)) return false;
  const std::string_view wrong = ValidationError(rule);
  return wrong.empty() || in.Fail(std::string(wrong));
}

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
  if (form->algorithm == Algorithm::kLockout) {
    return in.Fail("SHADOW of LOCKOUT is no rule: a block that blocks nobody lasts for ever");
  }
  if (form->algorithm == Algorithm::kHolds) return in.Fail("SHADOW of HOLDS is no rule");
  if (list.keeps_words) list.words.push_back("SHADOW");
  if (!ReadRule(in, index, *form, list)) return false;
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
      if (!ReadRule(in, index, *form, list)) return false;
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
    if (!ReadRule(in, index, *form, list)) return false;
  }
  return true;
}

size_t RuleLength(Words words, size_t index) {
  if (IsWord(words[index], "shadow")) return 1;
  const RuleForm* form = FormOf(words[index]);
  if (form == nullptr) return 0;
  const size_t length = 1 + form->arguments;
  const bool share = form->algorithm == Algorithm::kHolds && IsShare(words, index + length);
  return length + (share ? 1 : 0);
}

std::vector<std::string> RuleHelp() {
  std::vector<std::string> lines = {"Rules are:"};
  for (const RuleForm& form : kForms) {
    std::string& syntax = lines.emplace_back(Upper(form.word));
    for (const std::string_view part : {form.needs, form.options}) {
      if (!part.empty()) StrAppend(syntax, " ", part);
    }
    lines.push_back(StrCat("    ", form.summary));
  }
  lines.push_back("POLICY name");
  lines.push_back("    The rules that POLICY.SET stored under that name.");
  lines.push_back("SHADOW rule");
  lines.push_back("    Judged and counted, never denies; DENIALS says what it would have denied.");
  return lines;
}

}  // namespace tally
