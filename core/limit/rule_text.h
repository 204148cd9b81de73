// Rules of rate limiting as texts, for people.
#pragma once

#include <string>
#include <string_view>

#include "core/limit/limit_rule.h"

namespace tally {

// "fixed", "calendar", "sliding", "rolling", "bucket", "base", "allow", "deny", "lockout",
// "concurrent" or "holds".
std::string_view NameOf(LimitAlgorithm algorithm);

// The rule as RuleParser reads it, without options that have their default: "SLIDING 5 10m".
std::string RuleText(const LimitRule& rule);

// Where its calendar's periods or days begin, as the rule says it: "TZ Asia/Tokyo STARTS 20:00".
// Empty if it has no zone and no start.
std::string CalendarText(const LimitRule& rule);

}  // namespace tally
