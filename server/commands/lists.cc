// Commands that push to lists, look at them and change them in place. Those that pop are in
// list_pops.cc.
#include <algorithm>
#include <optional>
#include <string_view>

#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/list_value.h"

namespace tally::server {
namespace {

void PushAll(CommandContext& context, ListEnd end, bool only_if_present) {
  const std::string_view key = context.args[1];
  List* list = nullptr;
  if (!context.Write(key, list)) return;
  if (list == nullptr) {
    if (only_if_present) return context.reply.Integer(0);
    list = &CreateList(context, key);
  }
  for (const std::string_view element : context.args.subspan(2)) Push(*list, end, element);
  context.reply.Integer(static_cast<int64_t>(list->size()));
  context.Changed(kEventList, PushEvent(end), key);
}

void LPush(CommandContext& context) { PushAll(context, ListEnd::kLeft, false); }

void RPush(CommandContext& context) { PushAll(context, ListEnd::kRight, false); }

void LPushX(CommandContext& context) { PushAll(context, ListEnd::kLeft, true); }

void RPushX(CommandContext& context) { PushAll(context, ListEnd::kRight, true); }

void LLen(CommandContext& context) {
  List* list = nullptr;
  if (!context.Read(context.args[1], list)) return;
  context.reply.Integer(list == nullptr ? 0 : static_cast<int64_t>(list->size()));
}

// Returns the place of an index; a negative index counts from the end. Returns nothing if it lies
// outside the list.
std::optional<size_t> PlaceOf(const List& list, int64_t index) {
  const auto size = static_cast<int64_t>(list.size());
  const int64_t place = index < 0 ? index + size : index;
  if (place < 0 || place >= size) return std::nullopt;
  return static_cast<size_t>(place);
}

void LIndex(CommandContext& context) {
  List* list = nullptr;
  if (!context.Read(context.args[1], list)) return;
  if (list == nullptr) return context.reply.Null();
  const auto index = context.Int64Arg(2);
  if (!index) return;
  const auto place = PlaceOf(*list, *index);
  if (!place) return context.reply.Null();
  ReplyElement(context.reply, *list, *place);
}

struct ElementRange {
  size_t from = 0;
  size_t to = 0;
};

// Returns the places of an inclusive range of indexes; negative indexes count from the end. Both
// places are 0 if the range is empty.
ElementRange RangeOf(const List& list, int64_t start, int64_t end) {
  const auto size = static_cast<int64_t>(list.size());
  if (start < 0) start = std::max<int64_t>(start + size, 0);
  if (end < 0) end += size;
  if (start > end || start >= size) return {};
  return {static_cast<size_t>(start), static_cast<size_t>(std::min(end, size - 1) + 1)};
}

void LRange(CommandContext& context) {
  const auto start = context.Int64Arg(2);
  if (!start) return;
  const auto end = context.Int64Arg(3);
  if (!end) return;
  List* list = nullptr;
  if (!context.Read(context.args[1], list)) return;
  const auto [from, to] = list == nullptr ? ElementRange{} : RangeOf(*list, *start, *end);
  context.reply.Array(to - from);
  if (list == nullptr) return;
  list->ForEach(from, to, [&](const ElementView& text) {
    context.reply.Bulk(text);
    return true;
  });
}

void LTrim(CommandContext& context) {
  const std::string_view key = context.args[1];
  const auto start = context.Int64Arg(2);
  if (!start) return;
  const auto end = context.Int64Arg(3);
  if (!end) return;
  List* list = nullptr;
  if (!context.Write(key, list)) return;
  context.reply.Ok();
  if (list == nullptr) return;
  const auto [from, to] = RangeOf(*list, *start, *end);
  if (to - from == list->size()) {
    // As in Redis there is nothing to log, but watchers and listeners are told.
    context.host.key_events.Changed(kEventList, "ltrim", context.database, key);
    return;
  }
  list->Trim(from, to);
  context.Changed(kEventList, "ltrim", key);
  if (list->empty()) context.RemoveEmpty(key);
}

void LSet(CommandContext& context) {
  const std::string_view key = context.args[1];
  List* list = nullptr;
  if (!context.Write(key, list)) return;
  if (list == nullptr) return context.reply.Error(kNoSuchKeyError);
  const auto index = context.Int64Arg(2);
  if (!index) return;
  const auto place = PlaceOf(*list, *index);
  if (!place) return context.reply.Error("ERR index out of range");
  list->Set(*place, context.args[3]);
  context.reply.Ok();
  context.Changed(kEventList, "lset", key);
}

void LRem(CommandContext& context) {
  const std::string_view key = context.args[1];
  const auto count = context.Int64Arg(2);
  if (!count) return;
  List* list = nullptr;
  if (!context.Write(key, list)) return;
  if (list == nullptr) return context.reply.Integer(0);
  const size_t removed = list->RemoveMatching(*count, context.args[3]);
  context.reply.Integer(static_cast<int64_t>(removed));
  if (removed == 0) return;
  context.Changed(kEventList, "lrem", key);
  if (list->empty()) context.RemoveEmpty(key);
}

void LInsert(CommandContext& context) {
  const std::string_view key = context.args[1];
  const bool after = IsWord(context.args[2], "after");
  if (!after && !IsWord(context.args[2], "before")) return context.reply.Error(kSyntaxError);
  List* list = nullptr;
  if (!context.Write(key, list)) return;
  if (list == nullptr) return context.reply.Integer(0);
  const auto pivot = list->Find(context.args[3], 0, list->size());
  if (!pivot) return context.reply.Integer(-1);
  list->Insert(*pivot + (after ? 1 : 0), context.args[4]);
  context.reply.Integer(static_cast<int64_t>(list->size()));
  context.Changed(kEventList, "linsert", key);
}

constexpr std::string_view kRankRangeError =
    "ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807";

struct PositionOptions {
  int64_t rank = 1;              // which match is the first shown; negative: from the end
  std::optional<int64_t> count;  // how many to show, 0 for all
  int64_t max_length = 0;        // how many elements to look at, 0 for all
};

// Returns false after replying an error.
bool ParsePositionOptions(CommandContext& context, PositionOptions& options) {
  const auto take = [&](std::optional<int64_t> value, auto& option) {
    if (value) option = *value;
    return value.has_value();
  };
  for (size_t i = 3; i < context.args.size(); i += 2) {
    const std::string_view word = context.args[i];
    const bool has_value = i + 1 < context.args.size();
    if (has_value && IsWord(word, "rank")) {
      // INT64_MIN cannot be negated, so it has an error of its own.
      const bool negatable = ParseInt64(context.args[i + 1]) != INT64_MIN;
      const auto rank = context.Int64ArgIn(i + 1, -INT64_MAX, INT64_MAX,
                                           negatable ? kNotIntegerError : kRankRangeError);
      if (!take(rank, options.rank)) return false;
      if (options.rank == 0) {
        context.reply.Error(
            "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... "
            "or use negative to start from the end of the list");
        return false;
      }
    } else if (has_value && IsWord(word, "count")) {
      const auto count = context.Int64ArgIn(i + 1, 0, INT64_MAX, "ERR COUNT can't be negative");
      if (!take(count, options.count)) return false;
    } else if (has_value && IsWord(word, "maxlen")) {
      const auto length = context.Int64ArgIn(i + 1, 0, INT64_MAX, "ERR MAXLEN can't be negative");
      if (!take(length, options.max_length)) return false;
    } else {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  return true;
}

// Calls tell(place) for the matches that the options ask for, from the last match backwards if the
// rank is negative.
template <typename Tell>
void FindPositions(const List& list, std::string_view element, const PositionOptions& options,
                   Tell&& tell) {
  const bool backwards = options.rank < 0;
  uint64_t skip = static_cast<uint64_t>(backwards ? -options.rank : options.rank) - 1;
  const auto wanted = static_cast<uint64_t>(options.count.value_or(1));
  const size_t size = list.size();
  const size_t length =
      options.max_length == 0 ? size : std::min(size, static_cast<size_t>(options.max_length));
  size_t from = backwards ? size - length : 0;
  size_t to = backwards ? size : length;
  for (uint64_t told = 0; wanted == 0 || told < wanted;) {
    const auto at = backwards ? list.FindLast(element, from, to) : list.Find(element, from, to);
    if (!at) return;
    (backwards ? to : from) = *at + (backwards ? 0 : 1);
    if (skip > 0) {
      --skip;
      continue;
    }
    tell(*at);
    ++told;
  }
}

void LPos(CommandContext& context) {
  PositionOptions options;
  if (!ParsePositionOptions(context, options)) return;
  List* list = nullptr;
  const size_t mark = context.reply.BeginArray();
  if (!context.Read(context.args[1], list)) return;
  size_t told = 0;
  if (list != nullptr) {
    FindPositions(*list, context.args[2], options, [&](size_t place) {
      context.reply.Integer(static_cast<int64_t>(place));
      ++told;
    });
  }
  if (options.count) {
    context.reply.EndArray(mark, told);
  } else if (told == 0) {
    context.reply.Null();
  }
}

constexpr Command kListCommands[] = {
    {"lindex", LIndex, 3, kReadOnly, kOneKey, "Returns an element from a list by its index.",
     "1.0.0", "key#0 index:int"},
    {"linsert", LInsert, 5, kStores, OneKey(kInsertsIntoKey),
     "Inserts an element before or after another element in a list.", "2.2.0",
     "key#0 where<BEFORE|AFTER> pivot element"},
    {"llen", LLen, 2, kReadOnly | kFast, OneKey(kLooksAtKey), "Returns the length of a list.",
     "1.0.0", "key#0"},
    {"lpos", LPos, -3, kReadOnly, kOneKey, "Returns the index of matching elements in a list.",
     "6.0.6", "key#0 element [RANK rank:int] [COUNT num-matches:int] [MAXLEN len:int]"},
    {"lpush", LPush, -3, kStores | kFast, OneKey(kInsertsIntoKey),
     "Prepends one or more elements to a list, creating it if it doesn't exist.", "1.0.0",
     "key#0 element..."},
    {"lpushx", LPushX, -3, kStores | kFast, OneKey(kInsertsIntoKey),
     "Prepends one or more elements to a list only when the list exists.", "2.2.0",
     "key#0 element..."},
    {"lrange", LRange, 4, kReadOnly, kOneKey, "Returns a range of elements from a list.", "1.0.0",
     "key#0 start:int stop:int"},
    {"lrem", LRem, 4, kWrite, OneKey(kDeletesFromKey),
     "Removes elements equal to a value from a list.", "1.0.0", "key#0 count:int element"},
    {"lset", LSet, 4, kStores, OneKey(kUpdatesKey),
     "Sets the value of an element in a list by its index.", "1.0.0", "key#0 index:int element"},
    {"ltrim", LTrim, 4, kWrite, OneKey(kDeletesFromKey),
     "Removes elements from both ends of a list.", "1.0.0", "key#0 start:int stop:int"},
    {"rpush", RPush, -3, kStores | kFast, OneKey(kInsertsIntoKey),
     "Appends one or more elements to a list, creating it if it doesn't exist.", "1.0.0",
     "key#0 element..."},
    {"rpushx", RPushX, -3, kStores | kFast, OneKey(kInsertsIntoKey),
     "Appends one or more elements to a list only when the list exists.", "2.2.0",
     "key#0 element..."},
};

}  // namespace

std::span<const Command> ListCommands() { return kListCommands; }

}  // namespace tally::server
