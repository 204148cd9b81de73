#include "core/limit/rule_forms.h"

#include <absl/strings/ascii.h>

#include "core/bytes/str_cat.h"

namespace tally {
namespace {

constexpr RuleForm kForms[] = {
    {"fixed", LimitAlgorithm::kFixed, 2, "limit period", "[FROM instant]",
     "A window opens at the first hit and closes a period later, or they follow one another."},
    {"calendar", LimitAlgorithm::kCalendar, 2, "limit unit",
     "[TZ zone] [STARTS start] [WEEKSTART monday|sunday]",
     "Each second, minute, hour, day, week, month or year of the zone's calendar is a window."},
    {"sliding", LimitAlgorithm::kSliding, 2, "limit period", "",
     "At most limit hits in any window of that length, exact."},
    {"rolling", LimitAlgorithm::kRolling, 2, "limit period", "",
     "Two counters, weighted: approximate, of constant size."},
    {"bucket", LimitAlgorithm::kBucket, 3, "capacity refill period", "",
     "A token bucket: refill tokens each period, at most capacity saved."},
    {"base", LimitAlgorithm::kBase, 3, "base limit period", "[TZ zone] [STARTS time]",
     "The day's first base hits are free, from then on limit hits in each period."},
    {"lockout", LimitAlgorithm::kLockout, 3, "limit period block", "[GROW factor MAX most]",
     "At most limit hits in a period; the last one starts a block, in which all are denied."},
    {"concurrent", LimitAlgorithm::kConcurrent, 1, "limit", "",
     "At most limit held at once; only for LIMIT.RESERVE."},
    {"holds", LimitAlgorithm::kHolds, 1, "longest", "[share]",
     "In a policy: no hold is longer, and none takes a larger share of a limit than this (0.5)."},
    {"allow", LimitAlgorithm::kAllow, 0, "", "", "Always allows."},
    {"deny", LimitAlgorithm::kDeny, 0, "", "", "Always denies."},
};

}  // namespace

const RuleForm* FormOf(std::string_view word) {
  for (const RuleForm& form : kForms) {
    if (IsWord(word, form.word)) return &form;
  }
  return nullptr;
}

bool IsShare(Words words, size_t index) {
  return index < words.size() && !words[index].empty() && words[index][0] >= '0' &&
         words[index][0] <= '9';
}

size_t RuleLength(Words words, size_t index) {
  if (IsWord(words[index], "shadow")) return 1;
  const RuleForm* form = FormOf(words[index]);
  if (form == nullptr) return 0;
  const size_t length = 1 + form->arguments;
  const bool share = form->algorithm == LimitAlgorithm::kHolds && IsShare(words, index + length);
  return length + (share ? 1 : 0);
}

std::vector<std::string> RuleHelp() {
  std::vector<std::string> lines = {"Rules are:"};
  for (const RuleForm& form : kForms) {
    std::string& syntax =
        lines.emplace_back(absl::AsciiStrToUpper({form.word.data(), form.word.size()}));
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
