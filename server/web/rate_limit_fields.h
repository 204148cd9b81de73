// The fields RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-10, and
// Retry-After.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/limit/limit_rule.h"

namespace tally::server {

// A reply of LIMIT.TAKE.
struct LimitAnswer {
  bool allowed;
  int64_t limit;
  int64_t remaining;
  int64_t retry_after_ms;  // -1: it can never be allowed
  int64_t reset_after_ms;
};

// Returns header lines, each with its CR LF, for a decision under the rules of a policy. They
// include `w`, the window, if only one of the rules has the limit of the answer and its window has
// a fixed length. Empty for -1, where no rule decides (ALLOW, SHADOW): the draft has no negative
// values, and no policy without a limit. Bytes of the name that structured fields do not allow are
// percent-encoded.
std::string RateLimitFields(std::string_view policy, std::span<const LimitRule> rules,
                            const LimitAnswer& answer);

}  // namespace tally::server
