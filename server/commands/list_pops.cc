// Commands that remove elements from the ends of lists, to reply them or to move them to another
// list.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/number.h"
#include "server/arguments/counted_keys.h"
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
      return context.reply.Error("ERR wrong number of arguments for '" + context.item.full_name +
                                 "' command");
  }
}

void LPop(CommandContext& context) { Pop(context, ListEnd::kLeft); }

void RPop(CommandContext& context) { Pop(context, ListEnd::kRight); }

void MoveElement(CommandContext& context, ListEnd from_end, ListEnd to_end) {
  const std::string_view from_key = context.args[1];
  const std::string_view to_key = context.args[2];
  List* from = nullptr;
  if (!context.Write(from_key, from)) return;
  if (from == nullptr) return context.reply.Null();
  List* to = nullptr;
  if (!context.Write(to_key, to)) return;
  // A new key may move records, but not the lists that they point to, so `from` stays valid.
  if (to == nullptr) to = &CreateList(context, to_key);
  const std::string element = from->At(from_end == ListEnd::kLeft ? 0 : from->size() - 1);
  Push(*to, to_end, element);
  context.Changed(kEventList, PushEvent(to_end), to_key);
  // If both ends are the same end of one list, this removes the new copy; it has the same text.
  DropEnd(context, from_key, *from, from_end, 1);
  context.reply.Bulk(element);
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
  MoveElement(context, *from_end, *to_end);
}

void RPopLPush(CommandContext& context) { MoveElement(context, ListEnd::kRight, ListEnd::kLeft); }

void PopFrom(CommandContext& context, std::string_view key, List& list, ListEnd end, size_t count) {
  context.reply.Array(2);
  context.reply.Bulk(key);
  ReplyEnd(context.reply, list, end, count);
  DropEnd(context, key, list, end, count);
  const Int64Text popped(static_cast<int64_t>(count));
  context.LogInstead({end == ListEnd::kLeft ? "LPOP" : "RPOP", key, popped.view()});
}

void LMPop(CommandContext& context) {
  const auto keys = context.Int64ArgIn(1, 1, INT64_MAX, "ERR numkeys should be greater than 0");
  if (!keys) return;
  if (static_cast<uint64_t>(*keys) >= context.args.size() - 2) {
    return context.reply.Error(kSyntaxError);
  }
  const size_t end_index = 2 + static_cast<size_t>(*keys);
  const auto end = EndArg(context, end_index);
  if (!end) return;
  std::optional<int64_t> count;
  for (size_t i = end_index + 1; i < context.args.size(); i += 2) {
    if (count || i + 1 == context.args.size() || !IsWord(context.args[i], "count")) {
      return context.reply.Error(kSyntaxError);
    }
    count = context.Int64ArgIn(i + 1, 1, INT64_MAX, "ERR count should be greater than 0");
    if (!count) return;
  }
  for (const std::string_view key : context.args.subspan(2, static_cast<size_t>(*keys))) {
    List* list = nullptr;
    if (!context.Write(key, list)) return;
    if (list == nullptr) continue;
    const size_t wanted = static_cast<size_t>(count.value_or(1));
    return PopFrom(context, key, *list, *end, std::min(wanted, list->size()));
  }
  context.reply.NullArray();
}

constexpr KeyRange kCountedKeys{0, 0, 0, kTakesFromKey};
constexpr uint32_t kStore = kWrite | kDenyOom;

constexpr Command kCommands[] = {
    {"lmove", LMove, 5, kStore, TwoKeys(kTakesFromKey, kInsertsIntoKey),
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
    {"rpoplpush", RPopLPush, 3, kStore, TwoKeys(kTakesFromKey, kInsertsIntoKey),
     "Pops the last element of a list, pushes it to the front of another list and returns it.",
     "1.2.0", "source#0 destination#1"},
};

}  // namespace

std::span<const Command> ListPopCommands() { return kCommands; }

}  // namespace tally::server
