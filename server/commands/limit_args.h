// Arguments of the LIMIT and POLICY commands. rule_words.h reads the rules among them.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/limits.h"
#include "core/limit/rule_words.h"
#include "server/arguments/time_args.h"
#include "server/command/command_context.h"

namespace tally::server {

// Appends the rules in `words` to `list`. All words must be rules, and none may name a policy.
// Returns false after replying an error.
[[nodiscard]] bool ReadPlainRules(CommandContext& context, Args words, RuleList& list);

// The arguments of LIMIT.TAKE, LIMIT.PEEK and LIMIT.FORCE, and of LIMIT.RESERVE after its own two.
struct LimitArgs {
  explicit LimitArgs(const CommandContext& context, size_t first_key_in = 1)
      : time(context), max_holds(context.host.limits.limit_max_holds), first_key(first_key_in) {
    list.keeps_words = context.host.effects.enabled();
  }
  // False after replying an error. `has_once` says that the command has ONCE.
  [[nodiscard]] bool Read(CommandContext& context, bool has_once = false);

  // Valid as long as this object and the arguments of the call.
  LimitRequest request() const {
    return {.keys = {keys.data(), keys.size()},
            .cost = cost,
            .time = {time.at_ms(), time.now_ms()},
            .once = once,
            .max_holds = max_holds};
  }

  // The words of the keys and rules that have counted (LimitDecision::shadow_denied), for an
  // effect.
  std::vector<std::string> CountedWords(uint64_t shadow_denied) const;

  absl::InlinedVector<KeyRules, 2> keys;
  // The rules of all keys. Its `words` are each key with its rules, with AND between the keys; they
  // are kept only if somebody reads effects.
  RuleList list;
  int64_t cost = 1;
  int64_t least_cost = 0;
  EventTime time;
  std::string_view once;  // the id of ONCE
  int64_t max_holds;
  const size_t first_key;  // only the keys of LIMIT.RESERVE are not the first argument

 private:
  bool ReadKeys(CommandContext& context, size_t& index);
  [[nodiscard]] bool CheckHoldRules(CommandContext& context) const;
};

// Whether an id has as many bytes as it may; if not, replies an error that names it `name`.
[[nodiscard]] bool CheckId(CommandContext& context, std::string_view id, std::string_view name);

// Appends the keys for COMMAND GETKEYS and permissions: the first one, and each one that follows an
// AND after rules.
bool FindLimitKeys(Args args, std::vector<KeyReference>& keys);
// The same for LIMIT.RESERVE.
bool FindReservedKeys(Args args, std::vector<KeyReference>& keys);

}  // namespace tally::server
