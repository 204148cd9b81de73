#include "core/limit/rule_words.h"

#include <absl/strings/ascii.h>

#include <iterator>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/words/option_words.h"

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
    {"fixed", Algorithm::kFixed, 2, "limit period", "",
     "A window opens at the first hit and closes a period later."},
    {"calendar", Algorithm::kCalendar, 2, "limit unit", "[TZ zone] [WEEKSTART monday|sunday]",
     "Each second, minute, hour, day, week, month or year of the zone's calendar is a window."},
    {"sliding", Algorithm::kSliding, 2, "limit period", "",
     "At most limit hits in any window of that length, exact."},
    {"rolling", Algorithm::kRolling, 2, "limit period", "",
     "Two counters, weighted: approximate, of constant size."},
    {"bucket", Algorithm::kBucket, 3, "capacity refill period", "",
     "A token bucket: refill tokens each period, at most capacity saved."},
    {"base", Algorithm::kBase, 3, "base limit period", "[TZ zone]",
     "The day's first base hits are free, from then on limit hits in each period."},
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

constexpr std::string_view kUnits[] = {"second", "minute", "hour", "day", "week", "month", "year"};

bool ReadUnit(const WordReader& in, size_t index, CalendarUnit& unit) {
  for (size_t i = 0; i < std::size(kUnits); ++i) {
    if (!IsWord(in.words[index], kUnits[i])) continue;
    unit = static_cast<CalendarUnit>(i);
    return true;
  }
  return in.Fail("unit must be second, minute, hour, day, week, month or year");
}

bool ReadWeekStart(const WordReader& in, size_t index, WeekStart& start) {
  const bool sunday = IsWord(in.words[index], "sunday");
  if (!sunday && !IsWord(in.words[index], "monday")) {
    return in.Fail("WEEKSTART must be monday or sunday");
  }
  start = sunday ? WeekStart::kSunday : WeekStart::kMonday;
  return true;
}

// Reads the arguments that follow the rule's word at `index`.
bool ReadNumbers(const WordReader& in, size_t index, LimitRule& rule) {
  switch (rule.algorithm) {
    case Algorithm::kAllow:
    case Algorithm::kDeny:
      return true;
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
    default:
      return in.Count(index + 1, "limit", 0, rule.limit) &&
             in.Duration(index + 2, "period", rule.period_ms);
  }
}

bool TooManyRules(const WordReader& in) {
  return in.Fail(StrCat("rules must be at most ", kMaxRules, " in one command"));
}

bool NoRule(const WordReader& in, size_t index, std::string_view those) {
  return in.Fail(StrCat("rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, ", those,
                        ", not '", in.words[index].substr(0, 128), "'"));
}

}  // namespace

// Reads TZ and WEEKSTART from `index` on, if the rule has these options. `list.words` gets the
// zone's own name.
bool RuleParser::ReadOptions(const WordReader& in, size_t& index, RuleList& list) const {
  LimitRule& rule = list.rules.back();
  const bool calendar = rule.algorithm == Algorithm::kCalendar;
  if (!calendar && rule.algorithm != Algorithm::kBase) return true;
  rule.zone = &zones_.utc();
  OptionWords options;
  for (; index + 1 < in.words.size(); index += 2) {
    std::string_view value = in.words[index + 1];
    if (options.Is(in.words[index], "tz")) {
      rule.zone = in.ZoneAt(index + 1, zones_);
      if (rule.zone == nullptr) return false;
      value = rule.zone->name();
    } else if (calendar && options.Is(in.words[index], "weekstart")) {
      if (!ReadWeekStart(in, index + 1, rule.week_start)) return false;
    } else if (std::string error = options.Error(); !error.empty()) {
      return in.Fail(std::move(error));
    } else {
      break;
    }
    if (list.keeps_words) {
      list.words.push_back(in.words[index]);
      list.words.push_back(value);
    }
  }
  return true;
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
  if (!ReadOptions(in, index, list)) return false;
  const std::string_view wrong = WrongWith(rule);
  return wrong.empty() || in.Fail(std::string(wrong));
}

bool RuleParser::ReadPolicy(const WordReader& in, size_t index, RuleList& list) const {
  if (index == in.words.size()) return in.Fail("POLICY needs: name");
  const std::string_view name = in.words[index];
  Policy* policy = policies_.Find(name);
  if (policy == nullptr) {
    return in.Fail(
        StrCat("POLICY must be the name of one, there is no '", name.substr(0, 128), "'"));
  }
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
    } else {
      break;
    }
  }
  if (index > begin) return true;
  return begin < in.words.size() && NoRule(in, begin, "ALLOW, DENY or POLICY");
}

bool RuleParser::ReadPlain(const WordReader& in, RuleList& list) const {
  for (size_t index = 0; index < in.words.size();) {
    const RuleForm* form = FormOf(in.words[index]);
    if (form == nullptr) return NoRule(in, index, "ALLOW or DENY in a policy");
    if (!ReadRule(in, index, *form, list)) return false;
  }
  return true;
}

size_t RuleLength(std::string_view word) {
  const RuleForm* form = FormOf(word);
  return form == nullptr ? 0 : 1 + form->arguments;
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
  return lines;
}

}  // namespace tally
