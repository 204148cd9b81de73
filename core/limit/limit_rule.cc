#include "core/limit/limit_rule.h"

#include "core/time/duration.h"

namespace tally {
namespace {

bool ProductFits(int64_t a, int64_t b) {
  int64_t product = 0;
  return !__builtin_mul_overflow(a, b, &product);
}

bool IsStartOf(const LimitRule& rule) {
  if (rule.start == CalendarStart()) return true;
  const bool calendar = rule.algorithm == LimitAlgorithm::kCalendar;
  const CalendarUnit unit = calendar ? rule.unit : CalendarUnit::kDay;
  return CalendarStart::OfCode(rule.start.code(), unit).has_value();
}

std::string_view BlockError(const LockoutBlock& block) {
  if (block.first_ms <= 0 || block.first_ms > kMaxDurationMs) return "block is out of range";
  if (block.factor < LockoutBlock::kOne) return "GROW must be at least 1";
  if (block.most_ms < 0 || block.most_ms > kMaxDurationMs) return "MAX is out of range";
  if (block.most_ms != 0 && block.most_ms < block.first_ms) return "MAX must not be below block";
  return {};
}

}  // namespace

LimitRule LimitRule::Fixed(int64_t limit, int64_t period_ms, int64_t from_ms) {
  return {.algorithm = LimitAlgorithm::kFixed,
          .limit = limit,
          .period_ms = period_ms,
          .from_ms = from_ms};
}
LimitRule LimitRule::Calendar(int64_t limit, CalendarUnit unit, Zone& zone, CalendarStart start) {
  return {.algorithm = LimitAlgorithm::kCalendar,
          .limit = limit,
          .unit = unit,
          .start = start,
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
LimitRule LimitRule::Base(int64_t base, int64_t limit, int64_t period_ms, Zone& zone,
                          CalendarStart start) {
  return {.algorithm = LimitAlgorithm::kBase,
          .limit = limit,
          .period_ms = period_ms,
          .base = base,
          .start = start,
          .zone = &zone};
}
LimitRule LimitRule::Lockout(int64_t limit, int64_t period_ms, const LockoutBlock& block) {
  return {.algorithm = LimitAlgorithm::kLockout,
          .limit = limit,
          .period_ms = period_ms,
          .block = block};
}
LimitRule LimitRule::Allow() { return {.algorithm = LimitAlgorithm::kAllow}; }
LimitRule LimitRule::Deny() { return {.algorithm = LimitAlgorithm::kDeny}; }
LimitRule LimitRule::Concurrent(int64_t limit) {
  return {.algorithm = LimitAlgorithm::kConcurrent, .limit = limit};
}
LimitRule LimitRule::Holds(int64_t longest_ms, int64_t share) {
  return {.algorithm = LimitAlgorithm::kHolds, .limit = share, .period_ms = longest_ms};
}

Period LimitRule::WindowAt(int64_t at_ms) const {
  if (algorithm == LimitAlgorithm::kCalendar) return zone->Containing(at_ms, unit, start);
  if (from_ms == kNoFrom) return {at_ms, at_ms + period_ms};
  int64_t into_ms = (at_ms - from_ms) % period_ms;
  if (into_ms < 0) into_ms += period_ms;
  return {at_ms - into_ms, at_ms - into_ms + period_ms};
}

std::string_view ValidationError(const LimitRule& rule) {
  if (rule.algorithm == LimitAlgorithm::kHolds) {
    const bool lasts = rule.period_ms > 0 && rule.period_ms <= kMaxDurationMs;
    if (!lasts) return "longest is out of range";
    return rule.limit > 0 && rule.limit <= kWholeShare ? "" : "share must be above 0 and at most 1";
  }
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
  if (!IsStartOf(rule)) return "STARTS is none of the unit";
  if (rule.algorithm == LimitAlgorithm::kCalendar) return {};
  if (rule.period_ms <= 0 || rule.period_ms > kMaxDurationMs) return "period is out of range";
  if (rule.algorithm == LimitAlgorithm::kLockout) return BlockError(rule.block);
  if (!bucket) return {};
  if (rule.refill < 1) return "refill must be at least 1";
  if (!ProductFits(rule.limit, rule.period_ms)) return "capacity is too large for the period";
  if (!ProductFits(rule.refill, rule.period_ms)) return "refill is too large for the period";
  return {};
}

}  // namespace tally
