// Hashes: fields with values under one key.
#include <cmath>
#include <string>

#include "core/bytes/double_format.h"
#include "core/bytes/str_cat.h"
#include "core/engine/scratch.h"
#include "core/hash/hash.h"
#include "server/arguments/sample_args.h"
#include "server/arguments/scan_args.h"
#include "server/command/command_context.h"
#include "server/commands/command_value.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

HashLimits HashLimitsOf(const CommandContext& context) {
  const ValueLimits& limits = context.host.limits;
  return {static_cast<size_t>(limits.hash_max_listpack_entries),
          static_cast<size_t>(limits.hash_max_listpack_value)};
}

using Value = CommandValue<Hash>;

Hash& Scratch(CommandContext& context) { return context.engine().scratch().hash; }

void ReplyValue(ReplyBuilder& reply, const std::optional<Hash::Value>& value) {
  if (!value) return reply.Null();
  if (const auto number = value->integer()) return reply.BulkInteger(*number);
  reply.Bulk(value->text().view());
}

// Sets all pairs and returns how many fields are new; nothing after an error.
std::optional<int64_t> SetPairs(CommandContext& context) {
  const Args args = context.args;
  if (args.size() % 2 != 0) {
    context.reply.Error(
        StrCat("ERR wrong number of arguments for '", context.entry.full_name, "' command"));
    return std::nullopt;
  }
  Value hash(Scratch(context));
  if (!hash.Write(context, args[1])) return std::nullopt;
  const HashLimits limits = HashLimitsOf(context);
  int64_t added = 0;
  for (size_t i = 2; i < args.size(); i += 2) {
    added += hash->Set(args[i], args[i + 1], limits) ? 1 : 0;
  }
  hash.Store(context, args[1]);
  context.Changed(kEventHash, "hset", args[1]);
  return added;
}

void HSet(CommandContext& context) {
  if (const auto added = SetPairs(context)) context.reply.Integer(*added);
}

void HMSet(CommandContext& context) {
  if (SetPairs(context)) context.reply.Ok();
}

void HSetNx(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Write(context, context.args[1])) return;
  if (hash->Find(context.args[2])) return context.reply.Integer(0);
  hash->Set(context.args[2], context.args[3], HashLimitsOf(context));
  hash.Store(context, context.args[1]);
  context.Changed(kEventHash, "hset", context.args[1]);
  context.reply.Integer(1);
}

void HGet(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  ReplyValue(context.reply, hash->Find(context.args[2]));
}

void HMGet(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  context.reply.Array(context.args.size() - 2);
  for (const std::string_view field : context.args.subspan(2)) {
    ReplyValue(context.reply, hash->Find(field));
  }
}

void HGetAll(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  context.reply.Map(hash->size());
  hash->ForEach([&](const ElementView& field, const ElementView& value) {
    context.reply.Bulk(field);
    context.reply.Bulk(value);
  });
}

void HKeys(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  context.reply.Array(hash->size());
  hash->ForEach([&](const ElementView& field, const ElementView&) { context.reply.Bulk(field); });
}

void HVals(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  context.reply.Array(hash->size());
  hash->ForEach([&](const ElementView&, const ElementView& value) { context.reply.Bulk(value); });
}

void HDel(CommandContext& context) {
  const std::string_view key = context.args[1];
  Value hash(Scratch(context));
  if (!hash.Write(context, key)) return;
  int64_t erased = 0;
  for (const std::string_view field : context.args.subspan(2)) {
    erased += hash->Erase(field) ? 1 : 0;
  }
  if (erased > 0) {
    context.Changed(kEventHash, "hdel", key);
    hash.Store(context, key);
  }
  context.reply.Integer(erased);
}

void HLen(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  context.reply.Integer(static_cast<int64_t>(hash->size()));
}

void HExists(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  context.reply.Integer(hash->Find(context.args[2]) ? 1 : 0);
}

void HStrLen(CommandContext& context) {
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  const auto value = hash->Find(context.args[2]);
  context.reply.Integer(value ? static_cast<int64_t>(value->text().view().size()) : 0);
}

void HIncrBy(CommandContext& context) {
  const auto delta = context.Int64Arg(3);
  if (!delta) return;
  Value hash(Scratch(context));
  if (!hash.Write(context, context.args[1])) return;
  const auto [status, value] = hash->Increment(context.args[2], *delta, HashLimitsOf(context));
  switch (status) {
    case Hash::IncrementStatus::kNotInteger:
      return context.reply.Error("ERR hash value is not an integer");
    case Hash::IncrementStatus::kOverflow:
      return context.reply.Error("ERR increment or decrement would overflow");
    case Hash::IncrementStatus::kOk:
      hash.Store(context, context.args[1]);
      context.Changed(kEventHash, "hincrby", context.args[1]);
      return context.reply.Integer(value);
  }
}

void HIncrByFloat(CommandContext& context) {
  const std::string_view key = context.args[1];
  const std::string_view field = context.args[2];
  const auto delta = ParseLongDouble(context.args[3]);
  if (!delta) return context.reply.Error(kNotFloatError);
  if (!std::isfinite(*delta)) return context.reply.Error("ERR value is NaN or Infinity");
  Value hash(Scratch(context));
  if (!hash.Write(context, key)) return;
  long double sum = *delta;
  if (const auto value = hash->Find(field)) {
    const auto old = ParseLongDouble(value->text().view());
    if (!old) return context.reply.Error("ERR hash value is not a float");
    sum += *old;
  }
  if (!std::isfinite(sum)) {
    return context.reply.Error("ERR increment would produce NaN or Infinity");
  }
  std::string text;
  AppendHumanLongDouble(text, sum);
  hash->Set(field, text, HashLimitsOf(context));
  hash.Store(context, key);
  context.Changed(kEventHash, "hincrbyfloat", key);
  // Logs the result, so that a replay does not depend on the long double of this machine.
  context.LogInstead({"HSET", key, field, text});
  context.reply.Bulk(text);
}

void HScan(CommandContext& context) {
  const auto cursor = CursorArg(context, 2);
  if (!cursor) return;
  Value hash(Scratch(context));
  if (!hash.Read(context, context.args[1])) return;
  ScanReply found(context);
  if (!hash.exists()) return found.Finish(0);
  ScanOptions options;
  if (!ParseScanOptions(context, 3, ScanTarget::kElements, options)) return;
  const uint64_t next =
      hash->Scan(*cursor, options.count, [&](const ElementView& field, const ElementView& value) {
        if (!options.Matches(field)) return;
        found.Add(field);
        found.Add(value);
      });
  found.Finish(next);
}

void ReplyRandomFields(CommandContext& context, const Hash& hash, SampleCount wanted,
                       bool with_values) {
  ReplyBuilder& reply = context.reply;
  const size_t count = wanted.distinct ? std::min(wanted.count, hash.size()) : wanted.count;
  const bool nested = with_values && reply.protocol() == 3;
  reply.Array(with_values && !nested ? count * 2 : count);
  const auto show = [&](const ElementView& field, const ElementView& value) {
    if (nested) reply.Array(2);
    reply.Bulk(field);
    if (with_values) reply.Bulk(value);
  };
  const auto random = [&] { return context.host.random(); };
  if (wanted.distinct) return hash.SampleDistinct(count, random, show);
  hash.SampleRepeated(count, random, show);
}

void HRandField(CommandContext& context) {
  const Args args = context.args;
  Value hash(Scratch(context));
  if (args.size() == 2) {
    if (!hash.Read(context, args[1])) return;
    if (!hash.exists()) return context.reply.Null();
    return hash->Sample(context.host.random(), [&](const ElementView& field, const ElementView&) {
      context.reply.Bulk(field);
    });
  }
  const auto wanted = SampleCountArg(context, 2);
  if (!wanted) return;
  const bool with_values = args.size() == 4 && IsWord(args[3], "withvalues");
  if (args.size() > 3 && !with_values) return context.reply.Error(kSyntaxError);
  if (with_values && wanted->count > static_cast<size_t>(INT64_MAX / 2)) {
    return context.reply.Error("ERR value is out of range");
  }
  if (!hash.Read(context, args[1])) return;
  if (!hash.exists()) return context.reply.Array(0);
  ReplyRandomFields(context, *hash, *wanted, with_values);
}

constexpr Command kHashCommands[] = {
    {"hdel", HDel, -3, kWrite | kFast, OneKey(kDeletesFromKey), "Deletes fields from a hash.",
     "2.0.0", "key#0 field..."},
    {"hexists", HExists, 3, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Determines whether a field exists in a hash.", "2.0.0", "key#0 field"},
    {"hget", HGet, 3, kReadOnly | kFast, kOneKey, "Returns the value of a field in a hash.",
     "2.0.0", "key#0 field"},
    {"hgetall", HGetAll, 2, kReadOnly, kOneKey, "Returns all fields and values in a hash.", "2.0.0",
     "key#0"},
    {"hincrby", HIncrBy, 4, kStores | kFast, kOneKey,
     "Increments the integer value of a field in a hash by a number.", "2.0.0",
     "key#0 field increment:int"},
    {"hincrbyfloat", HIncrByFloat, 4, kStores | kFast, kOneKey,
     "Increments the floating point value of a field in a hash by a number.", "2.6.0",
     "key#0 field increment:double"},
    {"hkeys", HKeys, 2, kReadOnly, kOneKey, "Returns all fields in a hash.", "2.0.0", "key#0"},
    {"hlen", HLen, 2, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Returns the number of fields in a hash.", "2.0.0", "key#0"},
    {"hmget", HMGet, -3, kReadOnly | kFast, kOneKey, "Returns the values of fields in a hash.",
     "2.0.0", "key#0 field..."},
    {"hmset", HMSet, -4, kStores | kFast, OneKey(kUpdatesKey),
     "Sets the values of fields in a hash.", "2.0.0", "key#0 field_value(field value)..."},
    {"hrandfield", HRandField, -2, kReadOnly, kOneKey, "Returns random fields from a hash.",
     "6.2.0", "key#0 [options(count:int [WITHVALUES])]"},
    {"hscan", HScan, -3, kReadOnly, kOneKey, "Iterates over fields and values of a hash.", "2.8.0",
     "key#0 cursor:int [MATCH pattern:pattern] [COUNT count:int]"},
    {"hset", HSet, -4, kStores | kFast, OneKey(kUpdatesKey),
     "Sets the values of fields in a hash; replies how many are new.", "2.0.0",
     "key#0 field_value(field value)..."},
    {"hsetnx", HSetNx, 4, kStores | kFast, OneKey(kInsertsIntoKey),
     "Sets the value of a field in a hash only when the field doesn't exist.", "2.0.0",
     "key#0 field value"},
    {"hstrlen", HStrLen, 3, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Returns the length of the value of a field.", "3.2.0", "key#0 field"},
    {"hvals", HVals, 2, kReadOnly, kOneKey, "Returns all values in a hash.", "2.0.0", "key#0"},
};

}  // namespace

std::span<const Command> HashCommands() { return kHashCommands; }

}  // namespace tally::server
