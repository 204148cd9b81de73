#include "core/engine/decisions.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <string>

#include "core/limit/rule_text.h"

namespace tally {
namespace {

uint64_t IdOf(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

// Hashes all that RuleText shows. A cheap hash is enough: a collision only gives a denial the wrong
// label.
uint64_t IdOf(const LimitRule& rule) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;
  uint64_t id = static_cast<uint64_t>(rule.algorithm) << 40 |
                static_cast<uint64_t>(rule.unit) << 32 | rule.start.code();
  const int64_t zone = rule.zone == nullptr ? 0 : rule.zone->id();
  for (const int64_t part : {rule.limit, rule.period_ms, rule.refill, rule.base, zone, rule.from_ms,
                             rule.block.first_ms, rule.block.factor, rule.block.most_ms}) {
    id = (std::rotl(id, 29) ^ static_cast<uint64_t>(part)) * kMultiplier;
  }
  return id;
}

// Whether a rule has this tally. There are few rules, and those of a policy are consecutive, so
// this looks from the last one back.
bool HasPolicy(std::span<const LimitRule> rules, const PolicyTally* policy) {
  return std::any_of(rules.rbegin(), rules.rend(),
                     [policy](const LimitRule& rule) { return rule.policy == policy; });
}

// The place, from 1, of the last rule among those of its policy, which are consecutive.
size_t PlaceInPolicy(std::span<const LimitRule> rules) {
  const auto other = std::find_if(rules.rbegin(), rules.rend(), [&](const LimitRule& rule) {
    return rule.policy != rules.back().policy;
  });
  return static_cast<size_t>(other - rules.rbegin());
}

}  // namespace

void Decisions::Count(Command command, std::span<const KeyRules> keys,
                      const LimitDecision& decision, const Where& where) {
  if (decision.shadow_denied != 0) [[unlikely]] {
    return CountShadows(command, keys, decision, where);
  }
  if (!decision.allowed) [[unlikely]] {
    ++Of(command).denied;
    return CountDenied(keys, decision.rule, where);
  }
  ++Of(command).allowed;
  for (const KeyRules& one : keys) CountAllowed(one.rules);
}

void Decisions::CountAllowed(std::span<const LimitRule> rules) {
  uint32_t counted = 0;
  for (size_t i = 0; i < rules.size(); ++i) {
    const LimitRule& rule = rules[i];
    const uint32_t bit = uint32_t{1} << static_cast<uint32_t>(rule.algorithm);
    if ((counted & bit) == 0) ++Of(rule).allowed;
    counted |= bit;
    if (rule.policy != nullptr && !HasPolicy(rules.first(i), rule.policy)) {
      ++rule.policy->count.allowed;
    }
  }
}

void Decisions::CountDenied(std::span<const KeyRules> keys, int rule, const Where& where) {
  auto place = static_cast<size_t>(rule);  // 1-based, over all keys
  for (const KeyRules& one : keys) {
    if (place > one.rules.size()) {
      place -= one.rules.size();
      continue;
    }
    const LimitRule& denied = one.rules[place - 1];
    ++Of(denied).denied;
    if (denied.policy != nullptr) ++denied.policy->count.denied;
    return AddDenial(one, place - 1, where);
  }
}

void Decisions::AddDenial(const KeyRules& key, size_t index, const Where& where) {
  const LimitRule& rule = key.rules[index];
  const Denials::Key name{key.key, where.database};
  const uint8_t shadow = rule.shadow ? Denials::kShadow : 0;
  if (rule.policy == nullptr) {
    const auto text = [&] { return RuleText(rule); };
    const auto kind = static_cast<uint8_t>(Denials::kRule | shadow);
    return denials_.Add(name, {kind, IdOf(rule), text, index + 1}, where.now_ms);
  }
  const auto text = [&] { return rule.policy->name; };
  const auto kind = static_cast<uint8_t>(Denials::kPolicy | shadow);
  const size_t place = PlaceInPolicy(key.rules.first(index + 1));
  denials_.Add(name, {kind, IdOf(rule.policy->name), text, place}, where.now_ms);
}

void Decisions::CountShadows(Command command, std::span<const KeyRules> keys,
                             const LimitDecision& decision, const Where& where) {
  ++Of(command).shadow_denied;
  uint64_t denied = decision.shadow_denied;
  for (const KeyRules& one : keys) {
    const PolicyTally* last = nullptr;
    for (size_t i = 0; i < one.rules.size(); ++i, denied >>= 1) {
      if ((denied & 1) == 0) continue;
      const LimitRule& rule = one.rules[i];
      ++Of(rule).shadow_denied;
      // The rules of a policy are consecutive.
      if (rule.policy != nullptr && rule.policy != last) ++rule.policy->count.shadow_denied;
      last = rule.policy;
      AddDenial(one, i, where);
    }
  }
  if (!decision.allowed) {
    ++Of(command).denied;
    return CountDenied(keys, decision.rule, where);
  }
  ++Of(command).allowed;
  ForEachCounted(
      keys, decision.shadow_denied,
      [this](const KeyRules&, std::span<const LimitRule> rules) { CountAllowed(rules); });
}

void Decisions::CountUnsold(std::string_view book, std::string_view limit, const Where& where) {
  ++Of(Command::kBuy).denied;
  denials_.Add({book, where.database},
               {Denials::kRule, IdOf(limit), [&] { return std::string(limit); }}, where.now_ms);
}

std::string_view NameOf(Decisions::Command command) {
  constexpr std::string_view kNames[Decisions::kCommands] = {
      "limit.take", "limit.force", "cl.throttle", "quota.buy", "limit.reserve"};
  return kNames[static_cast<size_t>(command)];
}

}  // namespace tally
