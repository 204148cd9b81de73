// Arguments of the calls about an id that is held: LIMIT.COMMIT, CANCEL and EXTEND.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/limit/limit_rule.h"
#include "core/words/word_list.h"
#include "server/arguments/time_args.h"
#include "server/command/command_context.h"

namespace tally::server {

// The place of the id among the words of a call.
inline constexpr size_t kHoldIdPlace = 1;

// The keys of a call that settles, and its options.
struct SettleArgs {
  explicit SettleArgs(const CommandContext& context) : time(context) {}

  // Reads the keys from `index` on, and the options that the command has.
  [[nodiscard]] bool Read(CommandContext& context, size_t index, bool has_cost, bool commits);
  // Appends the keys to the words of an effect.
  void AppendKeys(WordList& words) const {
    for (const KeyRules& key : keys) words.push_back(key.key);
  }

  absl::InlinedVector<KeyRules, 2> keys;
  std::optional<int64_t> cost;
  bool late = false;
  bool keep = false;
  bool force = false;
  EventTime time;
};

// Appends the keys for COMMAND GETKEYS and permissions: those after the id, or after the id and the
// ttl.
bool FindKeysAfterId(Args args, std::vector<KeyReference>& keys);
bool FindKeysAfterTtl(Args args, std::vector<KeyReference>& keys);

}  // namespace tally::server
