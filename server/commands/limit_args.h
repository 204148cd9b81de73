// The rules of rate limiting as words: LIMIT's and POLICY's arguments.
//
//   FIXED limit period | SLIDING limit period | ROLLING limit period | BUCKET capacity refill
//   period CALENDAR limit unit [TZ zone] [WEEKSTART monday|sunday] | BASE base limit period [TZ
//   zone] ALLOW | DENY | POLICY name
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/limit/limit_rule.h"
#include "server/command/command_context.h"
#include "server/command/time_args.h"

namespace tally::server {

inline constexpr size_t kMaxRules = 64;  // of one command, those of policies included

struct RuleList {
  absl::InlinedVector<LimitRule, 4> rules;
  // Their words, with those of a policy in its name's place and zones as tzdata spells them.
  EffectWords words;
};

// Appends the rules in `words` from `index` on, at least one, up to a word that begins none, where
// it leaves `index`. False after replying an error.
[[nodiscard]] bool ReadRules(CommandContext& context, Args words, size_t& index, RuleList& list);
// The same for words that are all rules and name no policy.
[[nodiscard]] bool ReadPlainRules(CommandContext& context, Args words, RuleList& list);

// The arguments of LIMIT.TAKE, LIMIT.PEEK and LIMIT.FORCE.
struct LimitArgs {
  struct Use {
    std::string_view key;
    size_t rules_end;  // in list.rules
  };

  explicit LimitArgs(const CommandContext& context) : time(context) {}
  // False after replying an error.
  [[nodiscard]] bool Read(CommandContext& context);

  absl::InlinedVector<Use, 2> uses;
  // `words` are those of all the keys, with AND between them.
  RuleList list;
  int64_t cost = 1;
  EventTime time;
};

// Each rule with its syntax and, on the next line, what it does.
std::vector<std::string> RuleHelp();

// For COMMAND GETKEYS and permissions: the first key, and each after an AND that follows rules.
bool FindLimitKeys(Args args, std::vector<KeyReference>& keys);

}  // namespace tally::server
