#include "server/web/rate_limit_fields.h"

#include <absl/strings/str_format.h>

#include <algorithm>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

// The largest integer that structured fields (RFC 8941) allow.
constexpr int64_t kMaxInteger = 999'999'999'999'999;

int64_t Bounded(int64_t value) { return std::min(value, kMaxInteger); }

int64_t CeilSeconds(int64_t ms) { return Bounded(ms / 1000 + (ms % 1000 > 0 ? 1 : 0)); }

// Returns the name as a string of RFC 8941: in quotes, of printable ASCII. Other bytes, and '%',
// are percent-encoded.
std::string QuotedName(std::string_view name) {
  std::string quoted = "\"";
  for (const char character : name) {
    const auto byte = static_cast<uint8_t>(character);
    if (byte < 0x20 || byte > 0x7e || character == '%') {
      absl::StrAppendFormat(&quoted, "%%%02X", byte);
    } else {
      if (character == '"' || character == '\\') quoted += '\\';
      quoted += character;
    }
  }
  quoted += '"';
  return quoted;
}

// Returns the length of the rule's window in ms; 0 if it has no window of fixed length.
int64_t WindowMs(const LimitRule& rule) {
  switch (rule.algorithm) {
    case LimitAlgorithm::kFixed:
    case LimitAlgorithm::kSliding:
    case LimitAlgorithm::kRolling:
    case LimitAlgorithm::kBase:
      return rule.period_ms;
    case LimitAlgorithm::kBucket:
      // The time in which an empty bucket becomes full. It may have more ms than an int64.
      return static_cast<int64_t>(
          std::min(static_cast<double>(rule.period_ms) * static_cast<double>(rule.limit) /
                       static_cast<double>(rule.refill),
                   static_cast<double>(kMaxInteger) * 1000));
    default:
      return 0;
  }
}

// Returns the window in ms of the only rule with this limit; 0 if no rule or several rules have it.
int64_t WindowOf(std::span<const LimitRule> rules, int64_t limit) {
  const LimitRule* only = nullptr;
  for (const LimitRule& rule : rules) {
    if (!rule.counts() || rule.limit != limit) continue;
    if (only != nullptr) return 0;
    only = &rule;
  }
  return only == nullptr ? 0 : WindowMs(*only);
}

}  // namespace

std::string RateLimitFields(std::string_view policy, std::span<const LimitRule> rules,
                            const LimitAnswer& answer) {
  if (answer.limit < 0 || answer.remaining < 0) return "";
  const std::string name = QuotedName(policy);
  const int64_t window_ms = WindowOf(rules, answer.limit);
  std::string fields = StrCat("RateLimit-Policy: ", name, ";q=", Bounded(answer.limit));
  if (window_ms > 0) StrAppend(fields, ";w=", CeilSeconds(window_ms));
  StrAppend(fields, "\r\nRateLimit: ", name, ";r=", Bounded(answer.remaining),
            ";t=", CeilSeconds(answer.reset_after_ms), "\r\n");
  if (!answer.allowed && answer.retry_after_ms >= 0) {
    StrAppend(fields, "Retry-After: ", std::max<int64_t>(CeilSeconds(answer.retry_after_ms), 1),
              "\r\n");
  }
  return fields;
}

}  // namespace tally::server
