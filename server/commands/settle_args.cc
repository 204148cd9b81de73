#include "server/commands/settle_args.h"

#include <string_view>

#include "core/bytes/str_cat.h"
#include "core/limit/rule_words.h"
#include "server/command/engine_call.h"
#include "server/command/usage.h"

namespace tally::server {
namespace {

bool IsSettleOption(std::string_view word) {
  for (const std::string_view option : {"cost", "late", "keep", "force", "at", "now"}) {
    if (IsWord(word, option)) return true;
  }
  return false;
}

// How many keys there are from `first` on. A word that is an option can only be the first key.
size_t CountKeys(Args args, size_t first) {
  size_t end = first + 1;
  while (end < args.size() && !IsSettleOption(args[end])) ++end;
  return end - first;
}

// A call with too many keys is refused, so nobody looks for the keys of one.
bool FindSettledKeys(Args args, size_t first, std::vector<KeyReference>& keys) {
  if (args.size() <= first) return false;
  const size_t count = CountKeys(args, first);
  if (count > kMaxRules) return false;
  for (size_t i = 0; i < count; ++i) keys.push_back({first + i});
  return true;
}

}  // namespace

bool SettleArgs::Read(CommandContext& context, size_t index, bool has_cost, bool commits) {
  const Args args = context.args;
  if (index >= args.size()) return ReplyWordError(context, "");
  for (size_t left = CountKeys(args, index); left > 0; --left) {
    if (keys.size() == kMaxRules) {
      return ReplyWordError(context, StrCat("keys must be at most ", kMaxRules));
    }
    keys.emplace_back().key = args[index++];
  }
  OptionWords options;
  while (index < args.size()) {
    if (has_cost && options.Is(args[index], "cost")) {
      if (!ReadCount(context, index + 1, "COST", 0, cost.emplace())) return false;
      index += 2;
    } else if (commits && options.Is(args[index], "late")) {
      late = true;
      ++index;
    } else if (commits && options.Is(args[index], "keep")) {
      keep = true;
      ++index;
    } else if (commits && options.Is(args[index], "force")) {
      force = true;
      ++index;
    } else if (context.replaying) {
      if (!time.ReadOption(context, index, options)) return false;
      index += 2;
    } else {
      return ReplyOptionError(context, options);
    }
  }
  return true;
}

bool FindKeysAfterId(Args args, std::vector<KeyReference>& keys) {
  return FindSettledKeys(args, kHoldIdPlace + 1, keys);
}
bool FindKeysAfterTtl(Args args, std::vector<KeyReference>& keys) {
  return FindSettledKeys(args, kHoldIdPlace + 2, keys);
}

}  // namespace tally::server
