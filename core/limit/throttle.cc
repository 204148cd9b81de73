#include "core/limit/throttle.h"

namespace tally {
namespace {

int64_t SecondsUp(int64_t ms) { return ms / 1000 + (ms % 1000 != 0 ? 1 : 0); }

}  // namespace

LimitRule ThrottleRule(int64_t max_burst, int64_t count, int64_t period_ms) {
  return LimitRule::Bucket(max_burst + 1, count, period_ms);
}

ThrottleReply ThrottleReplyOf(const LimitDecision& decision) {
  ThrottleReply reply;
  reply.limited = !decision.allowed;
  reply.limit = decision.limit;
  reply.remaining = decision.remaining;
  if (decision.retry_after_ms > 0) reply.retry_after_s = SecondsUp(decision.retry_after_ms);
  reply.reset_after_s = SecondsUp(decision.reset_after_ms);
  return reply;
}

}  // namespace tally
