#include "core/limit/hold_rules.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/saturating.h"
#include "core/bytes/varint.h"
#include "core/limit/limit_codec.h"

namespace tally {
namespace {

constexpr size_t kMostCounters = 1'000;

// In place of the head of a counter's key, which the rules that have a counter begin with, and
// which none of these is (limit_codec.h).
constexpr uint8_t kConcurrentRule = 0;
constexpr uint8_t kHoldsRule = 8;
constexpr uint8_t kShadowConcurrentRule = 24;

void AppendNumber(std::string& out, int64_t number) {
  AppendVarint(out, static_cast<uint64_t>(number));
}

bool CountsHeld(const LimitRule& rule) {
  return rule.counts() || rule.algorithm == LimitAlgorithm::kConcurrent;
}

void AppendRule(std::string& out, const LimitRule& rule) {
  if (!rule.counts()) {
    out.push_back(static_cast<char>(rule.shadow ? kShadowConcurrentRule : kConcurrentRule));
    return AppendNumber(out, rule.limit);
  }
  const LimitKey key = LimitKey::Of(rule);
  AppendLimitKey(out, key);
  AppendNumber(out, rule.limit);
  if (rule.algorithm == LimitAlgorithm::kBucket) AppendNumber(out, rule.refill);
  if (rule.algorithm == LimitAlgorithm::kBase) AppendNumber(out, rule.base);
  if (rule.algorithm == LimitAlgorithm::kLockout) {
    AppendNumber(out, rule.block.first_ms);
    AppendNumber(out, rule.block.factor);
    AppendNumber(out, rule.block.most_ms);
  }
  if (!key.has_zone() || key.zone_id == 0) return;
  AppendLengthPrefixed(out, rule.zone->name());
}

bool ReadZone(std::string_view& in, ZoneSource* zones, LimitRule& rule) {
  std::string_view name;
  if (!ReadLengthPrefixed(in, name)) return false;
  if (zones == nullptr) return Zone::IsName(name) || Zone::OfOffset(name).has_value();
  rule.zone = zones->FindStored(name);
  return rule.zone != nullptr;
}

// HOLDS gets the latest deadline in place of the longest time.
bool ReadRule(std::string_view& in, ZoneSource* zones, LimitRule& rule, LimitKey& key) {
  if (in.empty()) return false;
  const auto kind = static_cast<uint8_t>(in.front());
  if (kind == kHoldsRule) {
    in.remove_prefix(1);
    rule.algorithm = LimitAlgorithm::kHolds;
    return ReadVarintUpTo(in, kMaxHoldEndMs, rule.period_ms) &&
           ReadVarintUpTo(in, kWholeShare, rule.limit);
  }
  if (kind == kConcurrentRule || kind == kShadowConcurrentRule) {
    in.remove_prefix(1);
    rule.algorithm = LimitAlgorithm::kConcurrent;
    rule.shadow = kind == kShadowConcurrentRule;
    return ReadVarintUpTo(in, INT64_MAX, rule.limit);
  }
  if (!ReadLimitKey(in, key) || !ReadVarintUpTo(in, INT64_MAX, rule.limit)) return false;
  key.ToRule(rule);
  const bool bucket = rule.algorithm == LimitAlgorithm::kBucket;
  const bool base = rule.algorithm == LimitAlgorithm::kBase;
  if (bucket && !ReadVarintUpTo(in, INT64_MAX, rule.refill)) return false;
  if (base && !ReadVarintUpTo(in, INT64_MAX, rule.base)) return false;
  const bool lockout = rule.algorithm == LimitAlgorithm::kLockout;
  if (lockout && !(ReadVarintUpTo(in, INT64_MAX, rule.block.first_ms) &&
                   ReadVarintUpTo(in, INT64_MAX, rule.block.factor) &&
                   ReadVarintUpTo(in, INT64_MAX, rule.block.most_ms))) {
    return false;
  }
  if (!key.has_zone()) return ValidationError(rule).empty();
  if (zones != nullptr) rule.zone = &zones->utc();
  if (key.zone_id != 0 && !ReadZone(in, zones, rule)) return false;
  return ValidationError(rule).empty();
}

bool IsHolds(std::string_view in) { return in.front() == static_cast<char>(kHoldsRule); }

void AppendHolds(std::string& out, int64_t latest_ms, int64_t share) {
  out.push_back(static_cast<char>(kHoldsRule));
  AppendNumber(out, latest_ms);
  AppendNumber(out, share);
}

LimitRule ReadWellFormed(std::string_view& in) {
  LimitRule rule;
  LimitKey key;
  Check(ReadRule(in, nullptr, rule, key), "the rules of a record are well formed");
  return rule;
}

// What of the rules is HOLDS: they are last.
std::string_view SkipToHolds(std::string_view rules) {
  while (!rules.empty() && !IsHolds(rules)) ReadWellFormed(rules);
  return rules;
}

}  // namespace

void AppendDenyingRules(std::string& out, std::span<const LimitRule> rules) {
  for (const LimitRule& rule : rules) {
    if (CountsHeld(rule) && !rule.shadow) AppendRule(out, rule);
  }
}

void AppendHoldRules(std::string& out, std::span<const LimitRule> rules, int64_t now_ms) {
  AppendDenyingRules(out, rules);
  for (const LimitRule& rule : rules) {
    if (CountsHeld(rule) && rule.shadow) AppendRule(out, rule);
  }
  for (const LimitRule& rule : rules) {
    if (rule.algorithm != LimitAlgorithm::kHolds) continue;
    AppendHolds(out, std::min(SaturatingAdd(now_ms, rule.period_ms), kMaxHoldEndMs), rule.limit);
  }
}

int64_t LatestDeadline(std::string_view rules) {
  int64_t latest_ms = kMaxHoldEndMs;
  for (std::string_view in = SkipToHolds(rules); !in.empty();) {
    latest_ms = std::min(latest_ms, ReadWellFormed(in).period_ms);
  }
  return latest_ms;
}

void SetBackLatest(std::string& rules, int64_t by_ms) {
  const std::string holds(SkipToHolds(rules));
  rules.resize(rules.size() - holds.size());
  for (std::string_view in = holds; !in.empty();) {
    const LimitRule rule = ReadWellFormed(in);
    AppendHolds(rules, std::max<int64_t>(0, rule.period_ms - by_ms), rule.limit);
  }
}

bool ReadHoldRules(std::string_view in, ZoneSource& zones, HoldRules& rules) {
  while (!in.empty()) {
    LimitKey key;
    if (!ReadRule(in, &zones, rules.emplace_back(), key)) return false;
  }
  return true;
}

bool ReadHoldCounters(std::string_view in, HoldCounters& counters) {
  const size_t size = in.size();
  while (!in.empty()) {
    LimitRule rule;
    LimitKey key;
    if (!ReadRule(in, nullptr, rule, key)) return false;
    if (rule.algorithm == LimitAlgorithm::kHolds) {
      // Nothing else may follow.
      if (!in.empty() && !IsHolds(in)) return false;
      continue;
    }
    counters.counting_bytes = size - in.size();
    if (!rule.shadow) counters.denying_bytes = counters.counting_bytes;
    if (!rule.counts()) {
      (rule.shadow ? counters.shadow_concurrent : counters.concurrent) = true;
    } else if (std::ranges::find(counters.keys, key) == counters.keys.end()) {
      if (counters.keys.size() == kMostCounters) return false;
      counters.keys.push_back(key);
    }
  }
  return true;
}

const HoldCounters& HoldCountersReader::Of(std::string_view rules) {
  // A HOLDS, if there is one, is another for each hold.
  const bool same = version_ > 0 && rules.starts_with(counting_) &&
                    (rules.size() == counting_.size() || IsHolds(rules.substr(counting_.size())));
  if (same) return counters_;
  counters_ = {};
  Check(ReadHoldCounters(rules, counters_), "the rules of a record are well formed");
  counting_ = rules.substr(0, counters_.counting_bytes);
  ++version_;
  return counters_;
}

}  // namespace tally
