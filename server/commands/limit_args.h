// LIMIT's and POLICY's arguments; the rules among them are rule_words.h's.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/engine/limits.h"
#include "core/limit/rule_words.h"
#include "server/command/command_context.h"
#include "server/command/time_args.h"

namespace tally::server {

// Appends the rules in `words`, which are all rules and name no policy. False after replying an
// error.
[[nodiscard]] bool ReadPlainRules(CommandContext& context, Args words, RuleList& list);

// The arguments of LIMIT.TAKE, LIMIT.PEEK and LIMIT.FORCE.
struct LimitArgs {
  explicit LimitArgs(const CommandContext& context) : time(context) {}
  // False after replying an error.
  [[nodiscard]] bool Read(CommandContext& context);

  // Valid as long as the arguments.
  LimitRequest request() const {
    return {.keys = {keys.data(), keys.size()}, .cost = cost, .time = {time.at(), time.now()}};
  }

  absl::InlinedVector<KeyRules, 2> keys;
  // `words` are those of all the keys, with AND between them.
  RuleList list;
  int64_t cost = 1;
  EventTime time;

 private:
  bool ReadKeys(CommandContext& context, size_t& index);
};

// For COMMAND GETKEYS and permissions: the first key, and each after an AND that follows rules.
bool FindLimitKeys(Args args, std::vector<KeyReference>& keys);

}  // namespace tally::server
