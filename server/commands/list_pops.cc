// Commands that remove elements from the ends of lists, to reply them or to move them to another
// list. Those with a B wait for an element; what they log are the commands without it, so that
// nobody waits when the log is replayed.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/number.h"
#include "server/arguments/counted_keys.h"
#include "server/arguments/timeout_args.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/list_value.h"

namespace tally::server {
namespace {

constexpr std::string_view kNotPositiveError = "ERR value is out of range, must be positive";

// Removes `count` elements from an end and reports it; erases the key if the list became empty.
void DropEnd(CommandContext& context, std::string_view key, List& list, ListEnd end, size_t count) {
  const size_t size = list.size();
  end == ListEnd::kLeft ? list.Trim(count, size) : list.Trim(0, size - count);
  const bool emptied = list.empty();
  context.Changed(kEventList, PopEvent(end), key);
  if (emptied) context.RemoveEmpty(key);
}

// Replies `count` <= size() elements in the order in which they are popped.
void ReplyEnd(ReplyBuilder& reply, const List& list, ListEnd end, size_t count) {
  const auto add = [&](const ElementView& text) {
    reply.Bulk(text);
    return true;
  };
  reply.Array(count);
  const size_t size = list.size();
  end == ListEnd::kLeft ? list.ForEach(0, count, add)
                        : list.ForEachBackwards(size - count, size, add);
}

void PopOne(CommandContext& context, ListEnd end) {
  const std::string_view key = context.args[1];
  List* list = nullptr;
  if (!context.Write(key, list)) return;
  if (list == nullptr) return context.reply.Null();
  ReplyElement(context.reply, *list, end == ListEnd::kLeft ? 0 : list->size() - 1);
  DropEnd(context, key, *list, end, 1);
}

void PopCount(CommandContext& context, ListEnd end) {
  const std::string_view key = context.args[1];
  const auto wanted = context.Int64ArgIn(2, 0, INT64_MAX, kNotPositiveError);
  if (!wanted) return;
  List* list = nullptr;
  if (!context.Write(key, list)) return;
  if (list == nullptr) return context.reply.NullArray();
  const size_t count = std::min(static_cast<size_t>(*wanted), list->size());
  ReplyEnd(context.reply, *list, end, count);
  if (count > 0) DropEnd(context, key, *list, end, count);
}

void Pop(CommandContext& context, ListEnd end) {
  switch (context.args.size()) {
    case 2:
      return PopOne(context, end);
    case 3:
      return PopCount(context, end);
    default:
      return context.reply.Error("ERR wrong number of arguments for '" + context.entry.full_name +
                                 "' command");
  }
}

void LPop(CommandContext& context) { Pop(context, ListEnd::kLeft); }

void RPop(CommandContext& context) { Pop(context, ListEnd::kRight); }

enum class Outcome : uint8_t { kReplied, kNothing };

// Moves an element and replies it. Without a source it replies nothing.
Outcome MoveElement(CommandContext& context, ListEnd from_end, ListEnd to_end) {
  const std::string_view from_key = context.args[1];
  const std::string_view to_key = context.args[2];
  List* from = nullptr;
  if (!context.Write(from_key, from)) return Outcome::kReplied;
  if (from == nullptr) return Outcome::kNothing;
  List* to = nullptr;
  if (!context.Write(to_key, to)) return Outcome::kReplied;
  // A new key may move records, but not the lists that they point to, so `from` stays valid.
  if (to == nullptr) to = &CreateList(context, to_key);
  const std::string element = from->At(from_end == ListEnd::kLeft ? 0 : from->size() - 1);
  Push(*to, to_end, element);
  context.Changed(kEventList, PushEvent(to_end), to_key);
  // If both ends are the same end of one list, this removes the new copy; it has the same text.
  DropEnd(context, from_key, *from, from_end, 1);
  context.reply.Bulk(element);
  return Outcome::kReplied;
}

// Returns the end that LEFT or RIGHT names. Returns nothing after replying an error for another
// word.
std::optional<ListEnd> EndArg(CommandContext& context, size_t index) {
  if (IsWord(context.args[index], "left")) return ListEnd::kLeft;
  if (IsWord(context.args[index], "right")) return ListEnd::kRight;
  context.reply.Error(kSyntaxError);
  return std::nullopt;
}

void LMove(CommandContext& context) {
  const auto from_end = EndArg(context, 3);
  if (!from_end) return;
  const auto to_end = EndArg(context, 4);
  if (!to_end) return;
  if (MoveElement(context, *from_end, *to_end) == Outcome::kNothing) context.reply.Null();
}

void RPopLPush(CommandContext& context) {
  if (MoveElement(context, ListEnd::kRight, ListEnd::kLeft) == Outcome::kNothing) {
    context.reply.Null();
  }
}

// Moves an element, or waits for one.
void MoveOrWait(CommandContext& context, ListEnd from_end, ListEnd to_end) {
  const auto timeout_ms = TimeoutArg(context, context.args.size() - 1);
  if (!timeout_ms) return;
  if (MoveElement(context, from_end, to_end) == Outcome::kReplied) return;
  if (!context.WaitFor(Type::kList, context.args.subspan(1, 1), *timeout_ms)) context.reply.Null();
}

void BLMove(CommandContext& context) {
  const auto from_end = EndArg(context, 3);
  if (!from_end) return;
  const auto to_end = EndArg(context, 4);
  if (!to_end) return;
  MoveOrWait(context, *from_end, *to_end);
  if (context.changes() == 0) return;
  const Args args = context.args;
  context.LogInstead({"LMOVE", args[1], args[2], args[3], args[4]});
}

void BRPopLPush(CommandContext& context) {
  MoveOrWait(context, ListEnd::kRight, ListEnd::kLeft);
  if (context.changes() == 0) return;
  context.LogInstead({"RPOPLPUSH", context.args[1], context.args[2]});
}

std::string_view PopName(ListEnd end) { return end == ListEnd::kLeft ? "LPOP" : "RPOP"; }

// Pops an element of the first list that is there, or waits for one.
void PopOrWait(CommandContext& context, ListEnd end) {
  const size_t last = context.args.size() - 1;
  const auto timeout_ms = TimeoutArg(context, last);
  if (!timeout_ms) return;
  const Args keys = context.args.subspan(1, last - 1);
  for (const std::string_view key : context.KeysToTry(keys)) {
    List* list = nullptr;
    if (!context.Write(key, list)) return;
    if (list == nullptr) continue;
    context.reply.Array(2);
    context.reply.Bulk(key);
    ReplyElement(context.reply, *list, end == ListEnd::kLeft ? 0 : list->size() - 1);
    DropEnd(context, key, *list, end, 1);
    return context.LogInstead({PopName(end), key});
  }
  if (!context.WaitFor(Type::kList, keys, *timeout_ms)) context.reply.NullArray();
}

void BLPop(CommandContext& context) { PopOrWait(context, ListEnd::kLeft); }

void BRPop(CommandContext& context) { PopOrWait(context, ListEnd::kRight); }

void PopFrom(CommandContext& context, std::string_view key, List& list, ListEnd end, size_t count) {
  context.reply.Array(2);
  context.reply.Bulk(key);
  ReplyEnd(context.reply, list, end, count);
  DropEnd(context, key, list, end, count);
  const Int64Text popped(static_cast<int64_t>(count));
  context.LogInstead({PopName(end), key, popped.view()});
}

struct MultiPop {
  Args keys;
  ListEnd end = ListEnd::kLeft;
  size_t count = 1;
};

// Reads "numkeys key … LEFT|RIGHT [COUNT n]", which begins at the argument `first`. Returns nothing
// after replying an error.
std::optional<MultiPop> ParseMultiPop(CommandContext& context, size_t first) {
  const Args args = context.args;
  const auto keys = context.Int64ArgIn(first, 1, INT64_MAX, "ERR numkeys should be greater than 0");
  if (!keys) return std::nullopt;
  if (static_cast<uint64_t>(*keys) >= args.size() - first - 1) {
    context.reply.Error(kSyntaxError);
    return std::nullopt;
  }
  const size_t end_index = first + 1 + static_cast<size_t>(*keys);
  const auto end = EndArg(context, end_index);
  if (!end) return std::nullopt;
  std::optional<int64_t> count;
  for (size_t i = end_index + 1; i < args.size(); i += 2) {
    if (count || i + 1 == args.size() || !IsWord(args[i], "count")) {
      context.reply.Error(kSyntaxError);
      return std::nullopt;
    }
    count = context.Int64ArgIn(i + 1, 1, INT64_MAX, "ERR count should be greater than 0");
    if (!count) return std::nullopt;
  }
  return MultiPop{args.subspan(first + 1, static_cast<size_t>(*keys)), *end,
                  static_cast<size_t>(count.value_or(1))};
}

// Pops from the first list that is there. If there is none, it replies nothing.
Outcome PopFromFirst(CommandContext& context, const MultiPop& pop) {
  for (const std::string_view key : context.KeysToTry(pop.keys)) {
    List* list = nullptr;
    if (!context.Write(key, list)) return Outcome::kReplied;
    if (list == nullptr) continue;
    PopFrom(context, key, *list, pop.end, std::min(pop.count, list->size()));
    return Outcome::kReplied;
  }
  return Outcome::kNothing;
}

void LMPop(CommandContext& context) {
  const auto pop = ParseMultiPop(context, 1);
  if (!pop) return;
  if (PopFromFirst(context, *pop) == Outcome::kNothing) context.reply.NullArray();
}

void BLMPop(CommandContext& context) {
  const auto pop = ParseMultiPop(context, 2);
  if (!pop) return;
  const auto timeout_ms = TimeoutArg(context, 1);
  if (!timeout_ms || PopFromFirst(context, *pop) == Outcome::kReplied) return;
  if (!context.WaitFor(Type::kList, pop->keys, *timeout_ms)) context.reply.NullArray();
}

constexpr KeyRange kCountedKeys{0, 0, 0, kTakesFromKey};

constexpr uint32_t kWaits = kBlocking | kNoScript;
// Every argument but the last, the timeout, is a key.
constexpr KeyRange kAwaitedKeys{1, -2, 1, kTakesFromKey};

bool FindKeysAfterTimeout(Args args, std::vector<KeyReference>& keys) {
  return FindCountedKeys(args, 2, keys);
}

constexpr Command kListPopCommands[] = {
    {"blmove", BLMove, 6, kStores | kWaits, TwoKeys(kTakesFromKey, kInsertsIntoKey),
     "Pops an element from a list, pushes it to another list and returns it. Waits for an element "
     "if there is none.",
     "6.2.0", "source#0 destination#1 wherefrom<LEFT|RIGHT> whereto<LEFT|RIGHT> timeout:double"},
    {"blmpop",
     BLMPop,
     -5,
     kWrite | kBlocking | kMovableKeys,
     kCountedKeys,
     "Pops elements from the first of several lists that is not empty. Waits for an element if all "
     "are empty.",
     "7.0.0",
     "timeout:double numkeys:int key#0... where<LEFT|RIGHT> [COUNT count:int]",
     {},
     FindKeysAfterTimeout},
    {"blpop", BLPop, -3, kWrite | kWaits, kAwaitedKeys,
     "Removes and returns the first element of the first list that is not empty. Waits for an "
     "element if all are empty.",
     "2.0.0", "key#0... timeout:double"},
    {"brpop", BRPop, -3, kWrite | kWaits, kAwaitedKeys,
     "Removes and returns the last element of the first list that is not empty. Waits for an "
     "element if all are empty.",
     "2.0.0", "key#0... timeout:double"},
    {"brpoplpush", BRPopLPush, 4, kStores | kWaits, TwoKeys(kTakesFromKey, kInsertsIntoKey),
     "Pops the last element of a list, pushes it to the front of another list and returns it. "
     "Waits for an element if there is none.",
     "2.2.0", "source#0 destination#1 timeout:double"},
    {"lmove", LMove, 5, kStores, TwoKeys(kTakesFromKey, kInsertsIntoKey),
     "Pops an element from a list, pushes it to another list and returns it.", "6.2.0",
     "source#0 destination#1 wherefrom<LEFT|RIGHT> whereto<LEFT|RIGHT>"},
    {"lmpop",
     LMPop,
     -4,
     kWrite | kMovableKeys,
     kCountedKeys,
     "Pops elements from the first of several lists that is not empty.",
     "7.0.0",
     "numkeys:int key#0... where<LEFT|RIGHT> [COUNT count:int]",
     {},
     FindFirstCountedKeys},
    {"lpop", LPop, -2, kWrite | kFast, OneKey(kTakesFromKey),
     "Removes and returns the first elements of a list.", "1.0.0", "key#0 [count:int@6.2.0]"},
    {"rpop", RPop, -2, kWrite | kFast, OneKey(kTakesFromKey),
     "Removes and returns the last elements of a list.", "1.0.0", "key#0 [count:int@6.2.0]"},
    {"rpoplpush", RPopLPush, 3, kStores, TwoKeys(kTakesFromKey, kInsertsIntoKey),
     "Pops the last element of a list, pushes it to the front of another list and returns it.",
     "1.2.0", "source#0 destination#1"},
};

}  // namespace

std::span<const Command> ListPopCommands() { return kListPopCommands; }

}  // namespace tally::server
