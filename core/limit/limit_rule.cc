#include "core/limit/limit_rule.h"

#include "core/time/duration.h"

namespace tally {
namespace {

bool ProductFits(int64_t a, int64_t b) {
  int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product);
}

}  // namespace

LimitRule LimitRule::Fixed(int64_t limit, int64_t period_ms) {
  return {.algorithm = LimitAlgorithm::kFixed, .limit = limit, .period_ms = period_ms};
}
LimitRule LimitRule::Calendar(int64_t limit, CalendarUnit unit, Zone& zone, WeekStart week_start) {
  return {.algorithm = LimitAlgorithm::kCalendar,
          .limit = limit,
          .unit = unit,
          .week_start = week_start,
          .zone = &zone};
}
LimitRule LimitRule::Sliding(int64_t limit, int64_t period_ms) {
  return {.algorithm = LimitAlgorithm::kSliding, .limit = limit, .period_ms = period_ms};
}
LimitRule LimitRule::Rolling(int64_t limit, int64_t period_ms) {
  return {.algorithm = LimitAlgorithm::kRolling, .limit = limit, .period_ms = period_ms};
}
LimitRule LimitRule::Bucket(int64_t capacity, int64_t refill, int64_t period_ms) {
  return {.algorithm = LimitAlgorithm::kBucket,
          .limit = capacity,
          .period_ms = period_ms,
          .refill = refill};
}
LimitRule LimitRule::Base(int64_t base, int64_t limit, int64_t period_ms, Zone& zone) {
  return {.algorithm = LimitAlgorithm::kBase,
          .limit = limit,
          .period_ms = period_ms,
          .base = base,
          .zone = &zone};
}
LimitRule LimitRule::Allow() { return {.algorithm = LimitAlgorithm::kAllow}; }
LimitRule LimitRule::Deny() { return {.algorithm = LimitAlgorithm::kDeny}; }
LimitRule LimitRule::Concurrent(int64_t limit) {
  return {.algorithm = LimitAlgorithm::kConcurrent, .limit = limit};
}

std::string_view WrongWith(const LimitRule& rule) {
  if (rule.algorithm == LimitAlgorithm::kConcurrent && rule.limit < 0) {
    return "limit must not be negative";
  }
  if (!rule.counts()) return {};
  const bool bucket = rule.algorithm == LimitAlgorithm::kBucket;
  if (rule.limit < 0) {
    return bucket ? "capacity must not be negative" : "limit must not be negative";
  }
  if (rule.algorithm == LimitAlgorithm::kBase && rule.base < 0) {
    return "base must not be negative";
  }
  if (rule.algorithm == LimitAlgorithm::kCalendar) return {};
  if (rule.period_ms <= 0 || rule.period_ms > kMaxDurationMs) return "period is out of range";
  if (!bucket) return {};
  if (rule.refill < 1) return "refill must be at least 1";
  if (!ProductFits(rule.limit, rule.period_ms)) return "capacity is too large for the period";
  if (!ProductFits(rule.refill, rule.period_ms)) return "refill is too large for the period";
  return {};
}

}  // namespace tally
