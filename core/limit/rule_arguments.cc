#include "core/limit/rule_arguments.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

std::string Upper(std::string_view word) {
  return absl::AsciiStrToUpper({word.data(), word.size()});
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

// Reads the options from `index` on, if the rule has any. `list.words` gets the zone's own name.
bool ReadOptions(const WordReader& in, size_t& index, const RuleForm& form, ZoneSource& zones,
                 RuleList& list) {
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
  if (has_zone) rule.zone = &zones.utc();
  GivenOptions given;
  for (; index < in.words.size(); index += 2) {
    const OptionForm* option = OptionOf(in.words[index], rule.algorithm);
    if (option == nullptr) break;
    if (index + 1 == in.words.size()) {
      return in.Fail(StrCat(Upper(form.word), " needs: ", form.needs, " ", form.options));
    }
    std::string_view value = in.words[index + 1];
    if (!given.Add(in, *option)) return false;
    if (!ReadOption(in, index + 1, option->option, rule, zones, value)) return false;
    if (list.keeps_words) {
      list.words.push_back(in.words[index]);
      list.words.push_back(value);
    }
  }
  return given.Check(in);
}

}  // namespace

bool TooManyRules(const WordReader& in) {
  return in.Fail(StrCat("rules must be at most ", kMaxRules, " in one command"));
}

bool ReadRule(const WordReader& in, size_t& index, const RuleForm& form, ZoneSource& zones,
              RuleList& list) {
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
  if (!ReadOptions(in, index, form, zones, list)) return false;
  const std::string_view wrong = ValidationError(rule);
  return wrong.empty() || in.Fail(std::string(wrong));
}

}  // namespace tally
