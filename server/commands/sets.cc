// Commands on the members of a set. Those that combine several sets are in set_algebra.cc.
#include <algorithm>
#include <string>
#include <vector>

#include "core/set/set.h"
#include "server/arguments/sample_args.h"
#include "server/arguments/scan_args.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/set_value.h"

namespace tally::server {
namespace {

void SAdd(CommandContext& context) {
  const std::string_view key = context.args[1];
  Set* set = nullptr;
  if (!context.Write(key, set)) return;
  if (set == nullptr) set = &StoreSet(context, key, Set(context.engine().seed()));
  const SetLimits limits = SetLimitsOf(context);
  int64_t added = 0;
  for (const std::string_view member : context.args.subspan(2)) {
    added += set->Insert(member, limits) ? 1 : 0;
  }
  if (added > 0) context.Changed(kEventSet, "sadd", key);
  context.reply.Integer(added);
}

void SRem(CommandContext& context) {
  const std::string_view key = context.args[1];
  Set* set = nullptr;
  if (!context.Write(key, set)) return;
  int64_t erased = 0;
  if (set != nullptr) {
    for (const std::string_view member : context.args.subspan(2)) {
      erased += set->Erase(member) ? 1 : 0;
    }
  }
  if (erased > 0) {
    context.Changed(kEventSet, "srem", key);
    if (set->empty()) context.RemoveEmpty(key);
  }
  context.reply.Integer(erased);
}

void SCard(CommandContext& context) {
  Set* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  context.reply.Integer(set == nullptr ? 0 : static_cast<int64_t>(set->size()));
}

void SIsMember(CommandContext& context) {
  Set* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  context.reply.Integer(set != nullptr && set->Contains(context.args[2]) ? 1 : 0);
}

void SMIsMember(CommandContext& context) {
  Set* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  context.reply.Array(context.args.size() - 2);
  for (const std::string_view member : context.args.subspan(2)) {
    context.reply.Integer(set != nullptr && set->Contains(member) ? 1 : 0);
  }
}

void SMembers(CommandContext& context) {
  Set* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  if (set == nullptr) return context.reply.Set(0);
  ReplyMembers(context.reply, *set);
}

void PopOne(CommandContext& context) {
  const std::string_view key = context.args[1];
  Set* set = nullptr;
  if (!context.Write(key, set)) return;
  if (set == nullptr) return context.reply.Null();
  std::string member;
  set->Sample(context.host.random(), [&](const ElementView& chosen) {
    member = chosen;
    context.reply.Bulk(chosen);
  });
  set->Erase(member);
  context.Changed(kEventSet, "spop", key);
  context.LogInstead({"SREM", key, member});
  if (set->empty()) context.RemoveEmpty(key);
}

// Logs that the members were removed, in commands of about kEffectBytes: in one command they could
// be larger than a batch of the log can be.
void LogRemoval(CommandContext& context, std::string_view key,
                const std::vector<std::string>& members) {
  constexpr size_t kEffectBytes = size_t{1} << 20;
  std::vector<std::string_view> effect{"SREM", key};
  size_t bytes = 0;
  for (const std::string& member : members) {
    effect.emplace_back(member);
    bytes += member.size();
    if (bytes < kEffectBytes && &member != &members.back()) continue;
    context.LogInstead(effect);
    effect.resize(2);
    bytes = 0;
  }
}

// Pops `count` members of a set that has more.
void PopSome(CommandContext& context, std::string_view key, Set& set, size_t count) {
  std::vector<std::string> members;
  members.reserve(count);
  set.SampleDistinct(
      count, [&] { return context.host.random(); },
      [&](std::string_view chosen) { members.emplace_back(chosen); });
  LogRemoval(context, key, members);
  context.reply.Set(count);
  for (const std::string& member : members) {
    set.Erase(member);
    context.reply.Bulk(member);
  }
  context.Changed(kEventSet, "spop", key);
}

void SPop(CommandContext& context) {
  if (context.args.size() == 2) return PopOne(context);
  if (context.args.size() > 3) return context.reply.Error(kSyntaxError);
  const std::string_view key = context.args[1];
  const auto count =
      context.Int64ArgIn(2, 0, INT64_MAX, "ERR value is out of range, must be positive");
  if (!count) return;
  Set* set = nullptr;
  if (!context.Write(key, set)) return;
  if (set == nullptr || *count == 0) return context.reply.Set(0);
  if (static_cast<size_t>(*count) < set->size()) {
    return PopSome(context, key, *set, static_cast<size_t>(*count));
  }
  ReplyMembers(context.reply, *set);
  context.Changed(kEventSet, "spop", key);
  context.LogInstead({"DEL", key});
  context.RemoveEmpty(key);
}

void SRandMember(CommandContext& context) {
  const Args args = context.args;
  Set* set = nullptr;
  const auto show = [&](const ElementView& member) { context.reply.Bulk(member); };
  if (args.size() == 2) {
    if (!context.Read(args[1], set)) return;
    if (set == nullptr) return context.reply.Null();
    return set->Sample(context.host.random(), show);
  }
  if (args.size() > 3) return context.reply.Error(kSyntaxError);
  const auto wanted = SampleCountArg(context, 2);
  if (!wanted) return;
  if (!context.Read(args[1], set)) return;
  if (set == nullptr) return context.reply.Array(0);
  const size_t count = wanted->distinct ? std::min(wanted->count, set->size()) : wanted->count;
  context.reply.Array(count);
  const auto random = [&] { return context.host.random(); };
  if (wanted->distinct) return set->SampleDistinct(count, random, show);
  set->SampleRepeated(count, random, show);
}

void SMove(CommandContext& context) {
  const std::string_view from_key = context.args[1];
  const std::string_view to_key = context.args[2];
  const std::string_view member = context.args[3];
  if (!context.FindForWrite(from_key)) return context.reply.Integer(0);
  Set* from = nullptr;
  Set* to = nullptr;
  if (!context.Write(from_key, from) || !context.Write(to_key, to)) return;
  if (from == to) return context.reply.Integer(from->Contains(member) ? 1 : 0);
  if (!from->Erase(member)) return context.reply.Integer(0);
  context.Changed(kEventSet, "srem", from_key);
  if (from->empty()) context.RemoveEmpty(from_key);
  if (to == nullptr) to = &StoreSet(context, to_key, Set(context.engine().seed()));
  if (to->Insert(member, SetLimitsOf(context))) context.Changed(kEventSet, "sadd", to_key);
  context.reply.Integer(1);
}

void SScan(CommandContext& context) {
  const auto cursor = CursorArg(context, 2);
  if (!cursor) return;
  Set* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  ScanReply found(context);
  if (set == nullptr) return found.Finish(0);
  ScanOptions options;
  if (!ParseScanOptions(context, 3, ScanTarget::kElements, options)) return;
  const uint64_t next = set->Scan(*cursor, options.count, [&](const ElementView& member) {
    if (options.Matches(member)) found.Add(member);
  });
  found.Finish(next);
}

constexpr Command kSetCommands[] = {
    {"sadd", SAdd, -3, kStores | kFast, OneKey(kInsertsIntoKey), "Adds members to a set.", "1.0.0",
     "key#0 member..."},
    {"scard", SCard, 2, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Returns the number of members in a set.", "1.0.0", "key#0"},
    {"sismember", SIsMember, 3, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Determines whether a member belongs to a set.", "1.0.0", "key#0 member"},
    {"smembers", SMembers, 2, kReadOnly, kOneKey, "Returns all members of a set.", "1.0.0",
     "key#0"},
    {"smismember", SMIsMember, -3, kReadOnly | kFast, kOneKey,
     "Determines whether members belong to a set.", "6.2.0", "key#0 member..."},
    {"smove", SMove, 4, kWrite | kFast, TwoKeys(kTakesFromKey, kInsertsIntoKey),
     "Moves a member from one set to another.", "1.0.0", "source#0 destination#1 member"},
    {"spop", SPop, -2, kWrite | kFast, OneKey(kTakesFromKey),
     "Returns random members of a set after removing them.", "1.0.0", "key#0 [count:int@3.2.0]"},
    {"srandmember", SRandMember, -2, kReadOnly, kOneKey, "Returns random members of a set.",
     "1.0.0", "key#0 [count:int@2.6.0]"},
    {"srem", SRem, -3, kWrite | kFast, OneKey(kDeletesFromKey), "Removes members from a set.",
     "1.0.0", "key#0 member..."},
    {"sscan", SScan, -3, kReadOnly, kOneKey, "Iterates over members of a set.", "2.8.0",
     "key#0 cursor:int [MATCH pattern:pattern] [COUNT count:int]"},
};

}  // namespace

std::span<const Command> SetCommands() { return kSetCommands; }

}  // namespace tally::server
