#include "server/commands/limit_args.h"

#include <absl/strings/str_split.h>

#include <algorithm>
#include <string>

#include "core/bytes/str_cat.h"
#include "core/limit/holds.h"
#include "core/limit/rule_forms.h"
#include "core/limit/rule_text.h"
#include "server/command/engine_call.h"

namespace tally::server {
namespace {

RuleParser ParserOf(CommandContext& context) {
  return {context.engine().zones(), context.engine().policies()};
}

}  // namespace

bool ReadPlainRules(CommandContext& context, Args words, RuleList& list) {
  std::string error;
  return ParserOf(context).ReadPlain(WordReader(words, OriginOf(context), error), list) ||
         ReplyWordError(context, error);
}

bool LimitArgs::ReadKeys(CommandContext& context, size_t& index) {
  const Args args = context.args;
  std::string error;
  const WordReader in(args, OriginOf(context), error);
  const RuleParser parser = ParserOf(context);
  while (true) {
    // Made in its place: a copy of what has just been written piece by piece waits for the pieces.
    keys.emplace_back().key = args[index];
    if (list.keeps_words) list.words.push_back(args[index]);
    ++index;
    const size_t begin = list.rules.size();
    if (!parser.Read(in, index, list)) return ReplyWordError(context, error);
    keys.back().rules = std::span<const LimitRule>(list.rules).subspan(begin);
    if (index + 1 >= args.size() || !IsWord(args[index], "and")) break;
    if (list.keeps_words) list.words.push_back("AND");
    ++index;
  }
  if (keys.size() == 1) return true;
  // The rules of a key may have moved when the list grew for a later one.
  std::span<const LimitRule> rest(list.rules);
  for (KeyRules& key : keys) {
    const size_t count = key.rules.size();
    key.rules = rest.first(count);
    rest = rest.subspan(count);
  }
  return true;
}

// Checks the rules that are only for what is held.
bool LimitArgs::CheckHoldRules(CommandContext& context) const {
  for (const LimitRule& rule : list.rules) {
    const bool concurrent = rule.algorithm == LimitAlgorithm::kConcurrent;
    if (concurrent && first_key == 1) {
      return ReplyWordError(context,
                            "CONCURRENT limits what is held: only LIMIT.RESERVE may use it");
    }
    const bool holds = rule.algorithm == LimitAlgorithm::kHolds;
    if (holds && rule.policy == nullptr && !context.replaying) {
      return ReplyWordError(context, "HOLDS may only be in a policy");
    }
  }
  return true;
}

std::vector<std::string> LimitArgs::CountedWords(uint64_t shadow_denied) const {
  std::vector<std::string> words;
  const auto append = [&words](const KeyRules& key, std::span<const LimitRule> rules) {
    if (!words.empty()) words.emplace_back("AND");
    words.emplace_back(key.key);
    if (rules.empty()) words.emplace_back("ALLOW");
    for (const LimitRule& rule : rules) {
      const std::vector<std::string> own = absl::StrSplit(RuleText(rule), ' ');
      words.insert(words.end(), own.begin(), own.end());
    }
  };
  ForEachCounted(keys, shadow_denied, append);
  return words;
}

bool LimitArgs::Read(CommandContext& context, bool has_once) {
  const Args args = context.args;
  size_t index = first_key;
  if (index >= args.size()) return ReplyWordError(context, "");
  if (!ReadKeys(context, index)) return false;
  const bool special = std::ranges::any_of(list.rules, [](const LimitRule& rule) {
    return rule.algorithm >= LimitAlgorithm::kConcurrent;
  });
  if (special && !CheckHoldRules(context)) return false;
  OptionWords options;
  for (; index < args.size(); index += 2) {
    if (has_once && options.Is(args[index], "once")) {
      if (index + 1 == args.size()) return ReplyWordError(context, "");
      once = args[index + 1];
      if (!CheckId(context, once, "ONCE")) return false;
      continue;
    }
    const bool good = options.Is(args[index], "cost")
                          ? ReadCount(context, index + 1, "COST", least_cost, cost)
                          : time.ReadOption(context, index, options);
    if (!good) return false;
  }
  return true;
}

namespace {

bool FindKeysFrom(Args args, size_t first, std::vector<KeyReference>& keys) {
  if (args.size() < first + 2) return false;
  keys.push_back({first});
  for (size_t i = first + 1; i < args.size();) {
    if (const size_t length = RuleLength(args, i); length > 0) {
      i += length;
    } else if (IsWord(args[i], "and") && i + 1 < args.size()) {
      if (keys.size() == kMaxRules) return false;
      keys.push_back({i + 1});
      i += 2;
    } else {
      // POLICY and each option are a word with a value.
      i += 2;
    }
  }
  return true;
}

}  // namespace

bool CheckId(CommandContext& context, std::string_view id, std::string_view name) {
  if (!id.empty() && id.size() <= Holds::kMaxIdBytes) return true;
  return ReplyWordError(context, StrCat(name, " must have 1 to ", Holds::kMaxIdBytes, " bytes"));
}

bool FindLimitKeys(Args args, std::vector<KeyReference>& keys) {
  return FindKeysFrom(args, 1, keys);
}
bool FindReservedKeys(Args args, std::vector<KeyReference>& keys) {
  return FindKeysFrom(args, 3, keys);
}

}  // namespace tally::server
