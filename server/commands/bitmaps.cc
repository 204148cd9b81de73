// Strings as bitmaps.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/bytes/bit_string.h"
#include "core/bytes/text.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/string_value.h"

namespace tally::server {
namespace {

std::optional<size_t> BitOffsetArg(CommandContext& context, size_t index) {
  const int64_t bytes = MaxStringBytes(context);
  const auto offset = context.Int64ArgIn(index, 0, 8 * bytes - 1,
                                         "ERR bit offset is not an integer or out of range");
  if (!offset) return std::nullopt;
  return static_cast<size_t>(*offset);
}

void SetBit(CommandContext& context) {
  const std::string_view key = context.args[1];
  const auto offset = BitOffsetArg(context, 2);
  if (!offset) return;
  const auto bit = context.Int64ArgIn(3, 0, 1, "ERR bit is not an integer or out of range");
  if (!bit) return;
  Keyspace::Entry entry = context.FindForWrite(key);
  if (!context.CheckType(entry, Type::kString)) return;
  if (!entry) {
    context.keyspace().SetString(key, "", kNoDeadline, context.now_ms);
    entry = context.FindForWrite(key);
  }
  Text& bytes =
      context.keyspace().MutableString(entry, {.begin = *offset / 8, .end = *offset / 8 + 1});
  const bool grows = *offset / 8 >= bytes.size();
  if (grows) bytes.Resize(*offset / 8 + 1);
  const bool old = BitAt(bytes, *offset);
  context.reply.Integer(old ? 1 : 0);
  if (!grows && old == (*bit == 1)) return;
  SetBitAt(bytes, *offset, *bit == 1);
  context.Changed(kEventString, "setbit", key);
}

void GetBit(CommandContext& context) {
  const auto offset = BitOffsetArg(context, 2);
  if (!offset) return;
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!context.CheckType(entry, Type::kString)) return;
  if (!entry) return context.reply.Integer(0);
  const StringText text(entry);
  const bool inside = *offset / 8 < text.view().size();
  context.reply.Integer(inside && BitAt(text.view(), *offset) ? 1 : 0);
}

struct BitRange {
  size_t from = 0;
  size_t to = 0;
  bool has_end = false;  // the end was given
};

// Returns the place of an index. A negative index counts from the end of `size` places; if it lies
// before the first place, the first one is meant.
int64_t PlaceOf(int64_t index, int64_t size) {
  return index < 0 ? std::max<int64_t>(size + index, 0) : index;
}

// Whether the argument at `index` is a unit or absent; replies the error if it is not.
bool CheckUnit(CommandContext& context, size_t index) {
  if (context.args.size() <= index) return true;
  if (IsWord(context.args[index], "bit") || IsWord(context.args[index], "byte")) return true;
  context.reply.Error(kSyntaxError);
  return false;
}

// Returns the bits that the arguments `[start [end [BYTE|BIT]]]` from `index` on mean in a string
// of `bytes` bytes; an empty range if start is after end. Returns nothing after replying an error.
// BITPOS (`for_position`) checks the unit before it reads the end. If start and end are both before
// the beginning of the string, and start is after end, the range is empty for BITCOUNT, but BITPOS
// takes both for the first place.
std::optional<BitRange> BitRangeArgs(CommandContext& context, size_t index, size_t bytes,
                                     bool for_position) {
  const size_t given = context.args.size() - index;
  if (given == 0) return BitRange{0, 8 * bytes, false};
  const auto start = context.Int64Arg(index);
  if (!start) return std::nullopt;
  if (for_position && !CheckUnit(context, index + 2)) return std::nullopt;
  const auto end = given > 1 ? context.Int64Arg(index + 1) : std::optional<int64_t>(-1);
  if (!end) return std::nullopt;
  if (!for_position && *start < 0 && *end < 0 && *start > *end) return BitRange{};
  if (!CheckUnit(context, index + 2)) return std::nullopt;
  const bool in_bits = given == 3 && IsWord(context.args[index + 2], "bit");
  const size_t unit = in_bits ? 1 : 8;
  const auto size = static_cast<int64_t>(8 * bytes / unit);
  const int64_t first = PlaceOf(*start, size);
  const int64_t last = std::min(PlaceOf(*end, size), size - 1);
  if (first > last) return BitRange{0, 0, given > 1};
  return BitRange{static_cast<size_t>(first) * unit, static_cast<size_t>(last + 1) * unit,
                  given > 1};
}

void BitCount(CommandContext& context) {
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!context.CheckType(entry, Type::kString)) return;
  if (!entry) return context.reply.Integer(0);
  const size_t argc = context.args.size();
  if (argc == 3 || argc > 5) return context.reply.Error(kSyntaxError);
  const StringText text(entry);
  const auto range = BitRangeArgs(context, 2, text.view().size(), /*for_position=*/false);
  if (!range) return;
  context.reply.Integer(static_cast<int64_t>(CountOnes(text.view(), range->from, range->to)));
}

void BitPos(CommandContext& context) {
  const auto bit = context.Int64Arg(2);
  if (!bit) return;
  if (*bit != 0 && *bit != 1) {
    return context.reply.Error("ERR The bit argument must be 1 or 0.");
  }
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!context.CheckType(entry, Type::kString)) return;
  if (!entry) return context.reply.Integer(*bit == 1 ? -1 : 0);
  if (context.args.size() > 6) return context.reply.Error(kSyntaxError);
  const StringText text(entry);
  const auto range = BitRangeArgs(context, 3, text.view().size(), /*for_position=*/true);
  if (!range) return;
  const auto found = FindBit(text.view(), *bit == 1, range->from, range->to);
  if (found) return context.reply.Integer(static_cast<int64_t>(*found));
  // Without an end the string is treated as if zeros followed it.
  const bool beyond = *bit == 0 && !range->has_end && range->from < range->to;
  context.reply.Integer(beyond ? static_cast<int64_t>(range->to) : -1);
}

using CombineBytes = void (*)(Text& bytes, std::string_view other);

// Combines the source strings, which are the arguments from 3 on. Returns nothing after replying an
// error.
std::optional<Text> CombineSources(CommandContext& context, CombineBytes combine) {
  Text result;
  for (size_t i = 3; i < context.args.size(); ++i) {
    const Keyspace::Entry entry = context.Find(context.args[i]);
    if (!context.CheckType(entry, Type::kString)) return std::nullopt;
    const auto take = [&](std::string_view source) {
      i == 3 ? result.Append(source) : combine(result, source);
    };
    entry ? take(StringText(entry).view()) : take("");
  }
  return result;
}

void BitOp(CommandContext& context) {
  struct Operation {
    std::string_view name;
    CombineBytes combine;
  };
  constexpr Operation kOperations[] = {
      {"and", AndBits}, {"or", OrBits}, {"xor", XorBits}, {"not", nullptr}};
  const auto* operation =
      std::find_if(std::begin(kOperations), std::end(kOperations),
                   [&](const Operation& one) { return IsWord(context.args[1], one.name); });
  if (operation == std::end(kOperations)) return context.reply.Error(kSyntaxError);
  const bool invert = operation->combine == nullptr;
  if (invert && context.args.size() != 4) {
    return context.reply.Error("ERR BITOP NOT must be called with a single source key.");
  }
  std::optional<Text> result = CombineSources(context, operation->combine);
  if (!result) return;
  if (invert) InvertBits(*result);
  const std::string_view key = context.args[2];
  const size_t size = result->size();
  if (size > 0) {
    context.keyspace().SetString(key, "", kNoDeadline, context.now_ms);
    context.keyspace().MutableString(context.FindForWrite(key)) = std::move(*result);
    context.Changed(kEventString, "set", key);
  } else if (const Keyspace::Entry old = context.FindForWrite(key)) {
    context.Remove(old);
  }
  context.reply.Integer(static_cast<int64_t>(size));
}

constexpr Command kBitmapCommands[] = {
    {"bitcount", BitCount, -2, kReadOnly, kOneKey,
     "Counts the set bits (population counting) in a string.", "2.6.0",
     "key#0 [index(start:int end:int [index_unit@7.0.0<BYTE|BIT>])]"},
    {"bitop",
     BitOp,
     -4,
     kStores,
     {2, -1, 1, kOverwritesKey, kReadsKey},
     "Performs bitwise operations on strings and stores the result.",
     "2.6.0",
     "operation destkey#0 key#1..."},
    {"bitpos", BitPos, -3, kReadOnly, kOneKey, "Finds the first set or clear bit in a string.",
     "2.8.7", "key#0 bit:int [index(start:int [end_index(end:int [index_unit@7.0.0<BYTE|BIT>])])]"},
    {"getbit", GetBit, 3, kReadOnly | kFast, kOneKey, "Returns a bit value by its offset.", "2.2.0",
     "key#0 offset:int"},
    {"setbit", SetBit, 4, kStores, kOneKey,
     "Sets or clears the bit at an offset of a string, creating it if it doesn't exist.", "2.2.0",
     "key#0 offset:int value:int"},
};

}  // namespace

std::span<const Command> BitmapCommands() { return kBitmapCommands; }

}  // namespace tally::server
