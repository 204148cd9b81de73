// CL.THROTTLE as a bucket: what it asks, and how it answers.
#pragma once

#include <cstdint>

#include "core/limit/limit.h"
#include "core/limit/limit_rule.h"

namespace tally {

// The reply of redis-cell's CL.THROTTLE (https://github.com/brandur/redis-cell), in seconds rounded
// up. retry_after_s is -1 if the action is allowed, and if it can never be allowed.
struct ThrottleReply {
  bool limited = false;
  int64_t limit = 0;
  int64_t remaining = 0;
  int64_t retry_after_s = -1;
  int64_t reset_after_s = 0;

  friend bool operator==(const ThrottleReply&, const ThrottleReply&) = default;
};

// The bucket that `CL.THROTTLE key max_burst count period` means: it holds max_burst + 1 tokens,
// and `count` tokens come back each period. max_burst is in [0, INT64_MAX). The result may be
// invalid: check it with ValidationError().
LimitRule ThrottleRule(int64_t max_burst, int64_t count, int64_t period_ms);
ThrottleReply ThrottleReplyOf(const LimitDecision& decision);

}  // namespace tally
