#include "server/commands/limit_args.h"

#include <absl/strings/ascii.h>

#include <iterator>
#include <string>

#include "core/bytes/str_cat.h"
#include "core/limit/policy_table.h"
#include "server/command/usage.h"

namespace tally::server {
namespace {

using Algorithm = LimitAlgorithm;

struct RuleForm {
  std::string_view word;
  Algorithm algorithm;
  size_t arguments;        // without options
  std::string_view needs;  // their names
  std::string_view options;
  std::string_view summary;
};

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

// Null if the word begins no rule.
const RuleForm* FormOf(std::string_view word) {
  for (const RuleForm& form : kForms) {
    if (IsWord(word, form.word)) return &form;
  }
  return nullptr;
}

constexpr std::string_view kUnits[] = {"second", "minute", "hour", "day", "week", "month", "year"};

bool ReadUnit(ArgReader in, size_t index, CalendarUnit& unit) {
  for (size_t i = 0; i < std::size(kUnits); ++i) {
    if (!IsWord(in.args[index], kUnits[i])) continue;
    unit = static_cast<CalendarUnit>(i);
    return true;
  }
  in.reply.Error("ERR unit must be second, minute, hour, day, week, month or year");
  return false;
}

bool ReadWeekStart(ArgReader in, size_t index, WeekStart& start) {
  if (IsWord(in.args[index], "monday") || IsWord(in.args[index], "sunday")) {
    start = IsWord(in.args[index], "sunday") ? WeekStart::kSunday : WeekStart::kMonday;
    return true;
  }
  in.reply.Error("ERR WEEKSTART must be monday or sunday");
  return false;
}

// The numbers that follow the rule's word at `index`.
bool ReadNumbers(ArgReader in, size_t index, LimitRule& rule) {
  switch (rule.algorithm) {
    case Algorithm::kAllow:
    case Algorithm::kDeny:
      return true;
    case Algorithm::kCalendar:
      return ReadCount(in, index + 1, "limit", 0, rule.limit) && ReadUnit(in, index + 2, rule.unit);
    case Algorithm::kBucket:
      return ReadCount(in, index + 1, "capacity", 0, rule.limit) &&
             ReadCount(in, index + 2, "refill", 1, rule.refill) &&
             ReadDuration(in, index + 3, "period", rule.period_ms);
    case Algorithm::kBase:
      return ReadCount(in, index + 1, "base", 0, rule.base) &&
             ReadCount(in, index + 2, "limit", 0, rule.limit) &&
             ReadDuration(in, index + 3, "period", rule.period_ms);
    default:
      return ReadCount(in, index + 1, "limit", 0, rule.limit) &&
             ReadDuration(in, index + 2, "period", rule.period_ms);
  }
}

// TZ and WEEKSTART from `index` on, where the rule takes them. The words get the zone's own name.
bool ReadOptions(CommandContext& context, ArgReader in, size_t& index, LimitRule& rule,
                 EffectWords& words) {
  const bool calendar = rule.algorithm == Algorithm::kCalendar;
  if (!calendar && rule.algorithm != Algorithm::kBase) return true;
  rule.zone = &context.engine().zones().utc();
  for (; index + 1 < in.args.size(); index += 2) {
    std::string_view value = in.args[index + 1];
    if (IsWord(in.args[index], "tz")) {
      rule.zone = ReadZone(context, value);
      if (rule.zone == nullptr) return false;
      value = rule.zone->name();
    } else if (calendar && IsWord(in.args[index], "weekstart")) {
      if (!ReadWeekStart(in, index + 1, rule.week_start)) return false;
    } else {
      break;
    }
    words.insert(words.end(), {in.args[index], value});
  }
  return true;
}

bool ReadRule(CommandContext& context, ArgReader in, size_t& index, const RuleForm& form,
              RuleList& list) {
  if (list.rules.size() == kMaxRules) {
    in.reply.Error(StrCat("ERR rules must be at most ", kMaxRules, " in one command"));
    return false;
  }
  if (index + form.arguments >= in.args.size()) {
    in.reply.Error(StrCat("ERR ", Upper(form.word), " needs: ", form.needs));
    return false;
  }
  LimitRule& rule = list.rules.emplace_back();
  rule.algorithm = form.algorithm;
  if (!ReadNumbers(in, index, rule)) return false;
  const auto begin = in.args.begin() + static_cast<std::ptrdiff_t>(index);
  index += 1 + form.arguments;
  list.words.insert(list.words.end(), begin, in.args.begin() + static_cast<std::ptrdiff_t>(index));
  if (!ReadOptions(context, in, index, rule, list.words)) return false;
  const std::string_view wrong = WrongWith(rule);
  if (!wrong.empty()) in.reply.Error(StrCat("ERR ", wrong));
  return wrong.empty();
}

bool ReadPolicy(CommandContext& context, std::string_view name, RuleList& list) {
  const PolicyTable::Words* words = context.engine().policies().Find(name);
  if (words == nullptr) {
    context.reply.Error(
        StrCat("ERR POLICY must be the name of one, there is no '", name.substr(0, 128), "'"));
    return false;
  }
  const EffectWords views(words->begin(), words->end());
  return ReadPlainRules(context, Args(views.data(), views.size()), list);
}

}  // namespace

bool ReadRules(CommandContext& context, Args words, size_t& index, RuleList& list) {
  const size_t begin = index;
  while (index < words.size()) {
    if (const RuleForm* form = FormOf(words[index])) {
      if (!ReadRule(context, {context, words}, index, *form, list)) return false;
    } else if (IsWord(words[index], "policy")) {
      if (index + 1 == words.size()) {
        context.reply.Error("ERR POLICY needs: name");
        return false;
      }
      if (!ReadPolicy(context, words[index + 1], list)) return false;
      index += 2;
    } else {
      break;
    }
  }
  if (index > begin) return true;
  if (begin == words.size()) {
    ReplySyntaxError(context);
  } else {
    context.reply.Error(
        StrCat("ERR rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, ALLOW, DENY or "
               "POLICY, not '",
               words[begin].substr(0, 128), "'"));
  }
  return false;
}

bool ReadPlainRules(CommandContext& context, Args words, RuleList& list) {
  for (size_t index = 0; index < words.size();) {
    const RuleForm* form = FormOf(words[index]);
    if (form == nullptr) {
      context.reply.Error(
          StrCat("ERR rule must be FIXED, CALENDAR, SLIDING, ROLLING, BUCKET, BASE, "
                 "ALLOW or DENY in a policy, not '",
                 words[index].substr(0, 128), "'"));
      return false;
    }
    if (!ReadRule(context, {context, words}, index, *form, list)) return false;
  }
  return true;
}

bool LimitArgs::Read(CommandContext& context) {
  const Args args = context.args;
  size_t index = 1;
  while (true) {
    const std::string_view key = args[index];
    list.words.push_back(key);
    ++index;
    if (!ReadRules(context, args, index, list)) return false;
    uses.push_back({key, list.rules.size()});
    if (index + 1 >= args.size() || !IsWord(args[index], "and")) break;
    list.words.push_back("AND");
    ++index;
  }
  for (; index < args.size(); index += 2) {
    const bool good = IsWord(args[index], "cost") ? ReadCount(context, index + 1, "COST", 0, cost)
                                                  : time.ReadOption(context, index);
    if (!good) return false;
  }
  return true;
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

bool FindLimitKeys(Args args, std::vector<KeyReference>& keys) {
  if (args.size() < 3) return false;
  keys.push_back({1});
  for (size_t i = 2; i < args.size();) {
    if (const RuleForm* form = FormOf(args[i])) {
      i += 1 + form->arguments;
    } else if (IsWord(args[i], "and") && i + 1 < args.size()) {
      keys.push_back({i + 1});
      i += 2;
    } else {
      // POLICY and the options, a word and a value each.
      i += 2;
    }
  }
  return true;
}

}  // namespace tally::server
