// Commands that remove members from the ends of sorted sets and reply them. Those with a B wait for
// a member; what they log are the commands without it, so that nobody waits when the log is
// replayed.
#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "core/bytes/number.h"
#include "server/arguments/counted_keys.h"
#include "server/arguments/timeout_args.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/zset_access.h"

namespace tally::server {
namespace {

constexpr std::string_view PopCommand(bool max) { return max ? "ZPOPMAX" : "ZPOPMIN"; }

// Removes `count` members from one end and replies them flat, or each as a pair.
void PopScored(CommandContext& context, ZSet& set, std::string_view key, size_t count, bool max,
               bool pairs) {
  for (size_t i = 0; i < count; ++i) {
    const auto [member, score] = max ? set.PopMax() : set.PopMin();
    if (pairs) context.reply.Array(2);
    context.reply.Bulk(member);
    context.reply.Double(score);
  }
  if (count > 0) context.Changed(kEventZset, max ? "zpopmax" : "zpopmin", key);
  if (set.empty()) context.RemoveEmpty(key);
}

void Pop(CommandContext& context, bool max) {
  const std::string_view key = context.args[1];
  const bool counted = context.args.size() == 3;
  if (context.args.size() > 3) return context.reply.Error(kSyntaxError);
  std::optional<int64_t> count = 1;
  if (counted) {
    count = context.Int64ArgIn(2, 0, INT64_MAX, "ERR value is out of range, must be positive");
    if (!count) return;
  }
  ZSet* set = nullptr;
  if (!context.Write(key, set)) return;
  if (set == nullptr || *count == 0) return context.reply.Array(0);
  const size_t taken = std::min(set->size(), static_cast<size_t>(*count));
  const bool pairs = counted && context.reply.protocol() == 3;
  context.reply.Array(pairs ? taken : taken * 2);
  PopScored(context, *set, key, taken, max, pairs);
}

void ZPopMin(CommandContext& context) { Pop(context, false); }
void ZPopMax(CommandContext& context) { Pop(context, true); }

// Pops a member of the first sorted set that is there, or waits for one.
void PopOrWaitForMember(CommandContext& context, bool max) {
  const size_t last = context.args.size() - 1;
  const auto timeout_ms = TimeoutArg(context, last);
  if (!timeout_ms) return;
  const Args keys = context.args.subspan(1, last - 1);
  for (const std::string_view key : context.KeysToTry(keys)) {
    ZSet* set = nullptr;
    if (!context.Write(key, set)) return;
    if (set == nullptr) continue;
    context.reply.Array(3);
    context.reply.Bulk(key);
    PopScored(context, *set, key, 1, max, /*pairs=*/false);
    return context.LogInstead({PopCommand(max), key});
  }
  if (!context.WaitFor(Type::kZSet, keys, *timeout_ms)) context.reply.NullArray();
}

void BZPopMin(CommandContext& context) { PopOrWaitForMember(context, false); }
void BZPopMax(CommandContext& context) { PopOrWaitForMember(context, true); }

struct MultiZPop {
  Args keys;
  bool max = false;
  size_t count = 1;
};

// Reads "numkeys key … MIN|MAX [COUNT n]", which begins at the argument `first`. Returns nothing
// after replying an error.
std::optional<MultiZPop> ParseMultiZPop(CommandContext& context, size_t first) {
  const Args args = context.args;
  const auto fail = [&] {
    context.reply.Error(kSyntaxError);
    return std::nullopt;
  };
  const auto keys = context.Int64ArgIn(first, 1, INT64_MAX, "ERR numkeys should be greater than 0");
  if (!keys) return std::nullopt;
  if (static_cast<uint64_t>(*keys) >= args.size() - first - 1) return fail();
  const size_t where = first + 1 + static_cast<size_t>(*keys);
  const bool max = IsWord(args[where], "max");
  if (!max && !IsWord(args[where], "min")) return fail();
  std::optional<int64_t> count;
  for (size_t i = where + 1; i < args.size(); i += 2) {
    if (count || i + 1 == args.size() || !IsWord(args[i], "count")) return fail();
    count = context.Int64ArgIn(i + 1, 1, INT64_MAX, "ERR count should be greater than 0");
    if (!count) return std::nullopt;
  }
  return MultiZPop{args.subspan(first + 1, static_cast<size_t>(*keys)), max,
                   static_cast<size_t>(count.value_or(1))};
}

// Pops from the first sorted set that is there. Returns false, without a reply, if there is none.
bool PopFromFirstSet(CommandContext& context, const MultiZPop& pop) {
  for (const std::string_view key : context.KeysToTry(pop.keys)) {
    ZSet* set = nullptr;
    if (!context.Write(key, set)) return true;
    if (set == nullptr) continue;
    const size_t taken = std::min(set->size(), pop.count);
    context.reply.Array(2);
    context.reply.Bulk(key);
    context.reply.Array(taken);
    PopScored(context, *set, key, taken, pop.max, /*pairs=*/true);
    const Int64Text popped(static_cast<int64_t>(taken));
    context.LogInstead({PopCommand(pop.max), key, popped.view()});
    return true;
  }
  return false;
}

void ZMPop(CommandContext& context) {
  const auto pop = ParseMultiZPop(context, 1);
  if (pop && !PopFromFirstSet(context, *pop)) context.reply.NullArray();
}

void BZMPop(CommandContext& context) {
  const auto pop = ParseMultiZPop(context, 2);
  if (!pop) return;
  const auto timeout_ms = TimeoutArg(context, 1);
  if (!timeout_ms || PopFromFirstSet(context, *pop)) return;
  if (!context.WaitFor(Type::kZSet, pop->keys, *timeout_ms)) context.reply.NullArray();
}

constexpr KeyRange kCountedSets{0, 0, 0, kTakesFromKey};
constexpr KeyRange kAwaitedSets{1, -2, 1, kTakesFromKey};
constexpr uint32_t kWaitsForMember = kWrite | kFast | kBlocking | kNoScript;

bool FindSetsAfterTimeout(Args args, std::vector<KeyReference>& keys) {
  return FindCountedKeys(args, 2, keys);
}

constexpr Command kZSetPopCommands[] = {
    {"bzmpop",
     BZMPop,
     -5,
     kWrite | kBlocking | kMovableKeys,
     kCountedSets,
     "Removes and returns members with the lowest or highest scores from the first sorted set that "
     "is not empty. Waits for a member if all are empty.",
     "7.0.0",
     "timeout:double numkeys:int key#0... where<MIN|MAX> [COUNT count:int]",
     {},
     FindSetsAfterTimeout},
    {"bzpopmax", BZPopMax, -3, kWaitsForMember, kAwaitedSets,
     "Removes and returns the member with the highest score from the first sorted set that is not "
     "empty. Waits for a member if all are empty.",
     "5.0.0", "key#0... timeout:double"},
    {"bzpopmin", BZPopMin, -3, kWaitsForMember, kAwaitedSets,
     "Removes and returns the member with the lowest score from the first sorted set that is not "
     "empty. Waits for a member if all are empty.",
     "5.0.0", "key#0... timeout:double"},
    {"zmpop",
     ZMPop,
     -4,
     kWrite | kMovableKeys,
     kCountedSets,
     "Removes and returns members with the lowest "
     "or highest scores from the first sorted set that is not empty.",
     "7.0.0",
     "numkeys:int key#0... where<MIN|MAX> [COUNT count:int]",
     {},
     FindFirstCountedKeys},
    {"zpopmax", ZPopMax, -2, kWrite | kFast, OneKey(kTakesFromKey),
     "Removes and returns the members with the highest scores from a sorted set.", "5.0.0",
     "key#0 [count:int]"},
    {"zpopmin", ZPopMin, -2, kWrite | kFast, OneKey(kTakesFromKey),
     "Removes and returns the members with the lowest scores from a sorted set.", "5.0.0",
     "key#0 [count:int]"},
};

}  // namespace

std::span<const Command> ZSetPopCommands() { return kZSetPopCommands; }

}  // namespace tally::server
