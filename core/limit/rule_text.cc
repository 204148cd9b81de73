#include "core/limit/rule_text.h"

#include <absl/strings/ascii.h>

#include "core/bytes/str_cat.h"
#include "core/time/duration.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

constexpr std::string_view kAlgorithmNames[kLimitAlgorithms] = {
    "",     "fixed", "calendar", "sliding", "rolling",    "bucket",
    "base", "allow", "deny",     "lockout", "concurrent", "holds"};

void AppendZone(std::string& text, const LimitRule& rule) {
  if (rule.zone != nullptr && rule.zone->id() != 0) StrAppend(text, " TZ ", rule.zone->name());
}

void AppendStart(std::string& text, const LimitRule& rule, CalendarUnit unit) {
  if (rule.start == CalendarStart()) return;
  StrAppend(text, " STARTS ", FormatCalendarStart(rule.start, unit));
}

void AppendFrom(std::string& text, int64_t from_ms) {
  StrAppend(text, " FROM ");
  if (from_ms % 1000 == 0) {
    StrAppend(text, from_ms / 1000);
  } else {
    StrAppend(text, from_ms, "ms");
  }
}

// A number of thousandths, without zeros at the end: 1.5. LockoutBlock::kOne and kWholeShare are
// one.
void AppendThousandths(std::string& text, int64_t number) {
  StrAppend(text, number / 1'000);
  int64_t part = number % 1'000;
  if (part == 0) return;
  text += '.';
  for (int64_t digit = 100; part > 0; part %= digit, digit /= 10) {
    text += static_cast<char>('0' + part / digit);
  }
}

void AppendBlock(std::string& text, const LockoutBlock& block) {
  StrAppend(text, ' ', FormatDuration(block.first_ms));
  if (block.most_ms == 0) return;
  StrAppend(text, " GROW ");
  AppendThousandths(text, block.factor);
  StrAppend(text, " MAX ", FormatDuration(block.most_ms));
}

}  // namespace

std::string_view NameOf(LimitAlgorithm algorithm) {
  return kAlgorithmNames[static_cast<size_t>(algorithm)];
}

std::string RuleText(const LimitRule& rule) {
  std::string text(NameOf(rule.algorithm));
  if (rule.shadow) text.insert(0, "shadow ");
  absl::AsciiStrToUpper(&text);
  switch (rule.algorithm) {
    case Algorithm::kAllow:
    case Algorithm::kDeny:
      break;
    case Algorithm::kConcurrent:
      StrAppend(text, ' ', rule.limit);
      break;
    case Algorithm::kHolds:
      StrAppend(text, ' ', FormatDuration(rule.period_ms), ' ');
      AppendThousandths(text, rule.limit);
      break;
    case Algorithm::kCalendar:
      StrAppend(text, ' ', rule.limit, ' ', NameOf(rule.unit));
      AppendZone(text, rule);
      AppendStart(text, rule, rule.unit);
      break;
    case Algorithm::kBucket:
      StrAppend(text, ' ', rule.limit, ' ', rule.refill, ' ', FormatDuration(rule.period_ms));
      break;
    case Algorithm::kBase:
      StrAppend(text, ' ', rule.base, ' ', rule.limit, ' ', FormatDuration(rule.period_ms));
      AppendZone(text, rule);
      AppendStart(text, rule, CalendarUnit::kDay);
      break;
    default:
      StrAppend(text, ' ', rule.limit, ' ', FormatDuration(rule.period_ms));
      if (rule.algorithm == Algorithm::kLockout) AppendBlock(text, rule.block);
      if (rule.from_ms != LimitRule::kNoFrom) AppendFrom(text, rule.from_ms);
  }
  return text;
}

std::string CalendarText(const LimitRule& rule) {
  std::string text;
  AppendZone(text, rule);
  AppendStart(text, rule, rule.algorithm == Algorithm::kCalendar ? rule.unit : CalendarUnit::kDay);
  return text.empty() ? text : text.substr(1);
}

}  // namespace tally
