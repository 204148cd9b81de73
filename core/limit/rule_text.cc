#include "core/limit/rule_text.h"

#include <absl/strings/ascii.h>

#include "core/bytes/str_cat.h"
#include "core/limit/limit_show.h"
#include "core/time/duration.h"

namespace tally {
namespace {

using Algorithm = LimitAlgorithm;

constexpr std::string_view kNames[kLimitAlgorithms] = {
    "", "fixed", "calendar", "sliding", "rolling", "bucket", "base", "allow", "deny", "lockout", "concurrent"};

void AppendZone(std::string& text, const LimitRule& rule) {
  if (rule.zone != nullptr && rule.zone->id() != 0) StrAppend(text, " TZ ", rule.zone->name());
}

}  // namespace

std::string_view NameOf(LimitAlgorithm algorithm) { return kNames[static_cast<size_t>(algorithm)]; }

std::string RuleText(const LimitRule& rule) {
  std::string text(NameOf(rule.algorithm));
  absl::AsciiStrToUpper(&text);
  switch (rule.algorithm) {
    case Algorithm::kAllow:
    case Algorithm::kDeny:
      break;
    case Algorithm::kConcurrent:
      StrAppend(text, ' ', rule.limit);
      break;
    case Algorithm::kCalendar:
      StrAppend(text, ' ', rule.limit, ' ', WordOf(rule.unit));
      AppendZone(text, rule);
      if (rule.week_start == WeekStart::kSunday) text += " WEEKSTART sunday";
      break;
    case Algorithm::kBucket:
      StrAppend(text, ' ', rule.limit, ' ', rule.refill, ' ', FormatDuration(rule.period_ms));
      break;
    case Algorithm::kBase:
      StrAppend(text, ' ', rule.base, ' ', rule.limit, ' ', FormatDuration(rule.period_ms));
      AppendZone(text, rule);
      break;
    default:
      StrAppend(text, ' ', rule.limit, ' ', FormatDuration(rule.period_ms));
  }
  return text;
}

}  // namespace tally
