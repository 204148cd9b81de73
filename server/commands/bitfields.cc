// BITFIELD: whole numbers of any width, packed in a string.
#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/wide.h"
#include "core/bytes/bit_string.h"
#include "core/bytes/number.h"
#include "core/bytes/text.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/string_value.h"

namespace tally::server {
namespace {

enum class Overflow : uint8_t { kWrap, kSaturate, kFail };

struct FieldOperation {
  enum class Kind : uint8_t { kGet, kSet, kIncrease } kind;
  bool is_signed = false;
  unsigned width = 0;    // in bits: 1 to 64 if signed, 1 to 63 if not
  size_t offset = 0;     // of its first bit
  int64_t argument = 0;  // the new value, or what is added
  Overflow overflow;
};

bool FieldTypeArg(CommandContext& context, size_t index, FieldOperation& operation) {
  const std::string_view word = context.args[index];
  operation.is_signed = word.starts_with('i');
  const auto width =
      operation.is_signed || word.starts_with('u') ? ParseInt64(word.substr(1)) : std::nullopt;
  if (!width || *width < 1 || *width > (operation.is_signed ? 64 : 63)) {
    context.reply.Error(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but "
        "i64 is.");
    return false;
  }
  operation.width = static_cast<unsigned>(*width);
  return true;
}

// An offset in bits; after '#' it is one in fields of that width.
bool FieldOffsetArg(CommandContext& context, size_t index, FieldOperation& operation) {
  std::string_view word = context.args[index];
  const int64_t unit = word.starts_with('#') ? operation.width : 1;
  if (word.starts_with('#')) word.remove_prefix(1);
  const auto offset = ParseInt64(word);
  if (!offset || *offset < 0 || *offset > (8 * MaxStringBytes(context) - 1) / unit) {
    context.reply.Error("ERR bit offset is not an integer or out of range");
    return false;
  }
  operation.offset = static_cast<size_t>(*offset * unit);
  return true;
}

bool OverflowArg(CommandContext& context, size_t index, Overflow& overflow) {
  if (IsWord(context.args[index], "wrap")) {
    overflow = Overflow::kWrap;
  } else if (IsWord(context.args[index], "sat")) {
    overflow = Overflow::kSaturate;
  } else if (IsWord(context.args[index], "fail")) {
    overflow = Overflow::kFail;
  } else {
    context.reply.Error("ERR Invalid OVERFLOW type specified");
    return false;
  }
  return true;
}

// Reads the operations, which begin at the argument 2. Returns false after replying an error.
bool OperationArgs(CommandContext& context, std::vector<FieldOperation>& operations) {
  using Kind = FieldOperation::Kind;
  const Args args = context.args;
  Overflow overflow = Overflow::kWrap;
  for (size_t i = 2; i < args.size();) {
    const size_t given = args.size() - i;
    if (IsWord(args[i], "overflow") && given >= 2) {
      if (!OverflowArg(context, i + 1, overflow)) return false;
      i += 2;
      continue;
    }
    FieldOperation operation{.kind = Kind::kGet, .overflow = overflow};
    if (IsWord(args[i], "set") && given >= 4) {
      operation.kind = Kind::kSet;
    } else if (IsWord(args[i], "incrby") && given >= 4) {
      operation.kind = Kind::kIncrease;
    } else if (!IsWord(args[i], "get") || given < 3) {
      context.reply.Error(kSyntaxError);
      return false;
    }
    if (!FieldTypeArg(context, i + 1, operation)) return false;
    if (!FieldOffsetArg(context, i + 2, operation)) return false;
    if (operation.kind != Kind::kGet) {
      const auto argument = context.Int64Arg(i + 3);
      if (!argument) return false;
      operation.argument = *argument;
    }
    i += operation.kind == Kind::kGet ? 3 : 4;
    operations.push_back(operation);
  }
  return true;
}

int64_t ReadField(std::string_view bytes, const FieldOperation& field) {
  const uint64_t bits = BitsAt(bytes, field.offset, field.width);
  if (!field.is_signed) return static_cast<int64_t>(bits);
  const unsigned unused = 64 - field.width;
  return static_cast<int64_t>(bits << unused) >> unused;
}

// The value that the field gets; nothing if it does not fit and must not be changed.
std::optional<int64_t> NewValue(const FieldOperation& field, int64_t old) {
  const Wide most = (Wide{1} << (field.width - (field.is_signed ? 1 : 0))) - 1;
  const Wide least = field.is_signed ? -most - 1 : 0;
  const bool sets = field.kind == FieldOperation::Kind::kSet;
  Wide value = sets ? field.argument : Wide{old} + field.argument;
  // Redis reads what is set in an unsigned field as unsigned: a negative number is a large one.
  if (sets && !field.is_signed) value = static_cast<uint64_t>(field.argument);
  if ((value < least || value > most) && field.overflow == Overflow::kFail) return std::nullopt;
  if (field.overflow == Overflow::kSaturate) value = std::clamp(value, least, most);
  return static_cast<int64_t>(static_cast<uint64_t>(value));
}

void ReplyFields(CommandContext& context, std::span<const FieldOperation> operations) {
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!context.CheckType(entry, Type::kString)) return;
  context.reply.Array(operations.size());
  const auto reply_all = [&](std::string_view bytes) {
    for (const FieldOperation& field : operations) context.reply.Integer(ReadField(bytes, field));
  };
  entry ? reply_all(StringText(entry).view()) : reply_all("");
}

// The bytes of the fields that may be written.
ByteRange WrittenBytes(std::span<const FieldOperation> operations) {
  ByteRange range{.begin = SIZE_MAX, .end = 0};
  for (const FieldOperation& field : operations) {
    if (field.kind == FieldOperation::Kind::kGet) continue;
    range.begin = std::min(range.begin, field.offset / 8);
    range.end = std::max(range.end, (field.offset + field.width + 7) / 8);
  }
  return range;
}

void ChangeFields(CommandContext& context, std::span<const FieldOperation> operations) {
  const std::string_view key = context.args[1];
  Keyspace::Entry entry = context.FindForWrite(key);
  if (!context.CheckType(entry, Type::kString)) return;
  if (!entry) {
    context.keyspace().SetString(key, "", kNoDeadline, context.now_ms);
    entry = context.FindForWrite(key);
  }
  const ByteRange written = WrittenBytes(operations);
  Text& bytes = context.keyspace().MutableString(entry, written);
  // The string grows even if each value is refused.
  const bool grows = bytes.size() < written.end;
  if (grows) {
    bytes.Resize(written.end);
    context.CountChange();
  }
  bool changed = false;
  context.reply.Array(operations.size());
  for (const FieldOperation& field : operations) {
    const int64_t old = ReadField(bytes, field);
    if (field.kind == FieldOperation::Kind::kGet) {
      context.reply.Integer(old);
      continue;
    }
    const std::optional<int64_t> value = NewValue(field, old);
    if (!value) {
      context.reply.Null();
      continue;
    }
    SetBitsAt(bytes, field.offset, field.width, static_cast<uint64_t>(*value));
    const int64_t stored = ReadField(bytes, field);
    changed |= grows || stored != old;
    const bool sets = field.kind == FieldOperation::Kind::kSet;
    context.reply.Integer(sets ? old : stored);
  }
  if (changed) context.Changed(kEventString, "setbit", key);
}

bool OnlyGets(std::span<const FieldOperation> operations) {
  return std::all_of(operations.begin(), operations.end(), [](const FieldOperation& field) {
    return field.kind == FieldOperation::Kind::kGet;
  });
}

void BitField(CommandContext& context) {
  std::vector<FieldOperation> operations;
  if (!OperationArgs(context, operations)) return;
  OnlyGets(operations) ? ReplyFields(context, operations) : ChangeFields(context, operations);
}

void BitFieldRo(CommandContext& context) {
  std::vector<FieldOperation> operations;
  if (!OperationArgs(context, operations)) return;
  if (!OnlyGets(operations)) {
    return context.reply.Error("ERR BITFIELD_RO only supports the GET subcommand");
  }
  ReplyFields(context, operations);
}

// A call that has nothing but GET needs only the right to read.
bool FindBitFieldKey(Args args, std::vector<KeyReference>& keys) {
  bool gets = true;
  for (size_t i = 2; i < args.size(); i += 3) gets &= IsWord(args[i], "get") && i + 2 < args.size();
  keys.push_back({1, gets ? kReadsKey : kChangesKey});
  return true;
}

constexpr Command kBitFieldCommands[] = {
    {"bitfield",
     BitField,
     -2,
     kStores,
     OneKey(kChangesKey | kKeyVariable),
     "Performs arbitrary bitfield integer operations on strings.",
     "3.2.0",
     "key#0 [operation<GET encoding_offset(encoding offset:int)|write([OVERFLOW "
     "wrap_sat_fail<WRAP|SAT|FAIL>] write_operation<SET encoding_offset_value(encoding offset:int "
     "value:int)|INCRBY encoding_offset_increment(encoding offset:int increment:int)>)>...]",
     {},
     FindBitFieldKey},
    {"bitfield_ro", BitFieldRo, -2, kReadOnly | kFast, OneKey(kReadsKey),
     "Performs arbitrary read-only bitfield integer operations on strings.", "6.0.0",
     "key#0 [GET... encoding_offset(encoding offset:int)]"},
};

}  // namespace

std::span<const Command> BitFieldCommands() { return kBitFieldCommands; }

}  // namespace tally::server
