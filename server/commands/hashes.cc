// Hashes: fields with values under one key.
#include <cmath>
#include <string>

#include "core/bytes/double_format.h"
#include "core/bytes/str_cat.h"
#include "core/hash/hash.h"
#include "server/command/command_context.h"
#include "server/command/sample_args.h"
#include "server/command/scan_args.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

HashLimits LimitsOf(const CommandContext& context) {
  const Config& config = context.server.config;
  return {static_cast<size_t>(config.hash_max_listpack_entries),
          static_cast<size_t>(config.hash_max_listpack_value)};
}

Hash& Create(CommandContext& context, std::string_view key) {
  return context.keyspace().SetHeap(key, new Hash(context.engine().seed()), kNoDeadline,
                                    context.now);
}

// The hash to change, made if it is absent. Null after replying WRONGTYPE.
Hash* WriteOrCreate(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Write(context.args[1], hash)) return nullptr;
  return hash != nullptr ? hash : &Create(context, context.args[1]);
}

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
        StrCat("ERR wrong number of arguments for '", context.item.full_name, "' command"));
    return std::nullopt;
  }
  Hash* hash = WriteOrCreate(context);
  if (hash == nullptr) return std::nullopt;
  const HashLimits limits = LimitsOf(context);
  int64_t added = 0;
  for (size_t i = 2; i < args.size(); i += 2) {
    added += hash->Set(args[i], args[i + 1], limits) ? 1 : 0;
  }
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
  Hash* hash = nullptr;
  if (!context.Write(context.args[1], hash)) return;
  if (hash != nullptr && hash->Find(context.args[2])) return context.reply.Integer(0);
  if (hash == nullptr) hash = &Create(context, context.args[1]);
  hash->Set(context.args[2], context.args[3], LimitsOf(context));
  context.Changed(kEventHash, "hset", context.args[1]);
  context.reply.Integer(1);
}

void HGet(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  ReplyValue(context.reply, hash == nullptr ? std::nullopt : hash->Find(context.args[2]));
}

void HMGet(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  context.reply.Array(context.args.size() - 2);
  for (const std::string_view field : context.args.subspan(2)) {
    ReplyValue(context.reply, hash == nullptr ? std::nullopt : hash->Find(field));
  }
}

void HGetAll(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  if (hash == nullptr) return context.reply.Map(0);
  context.reply.Map(hash->size());
  hash->ForEach([&](std::string_view field, std::string_view value) {
    context.reply.Bulk(field);
    context.reply.Bulk(value);
  });
}

void HKeys(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  if (hash == nullptr) return context.reply.Array(0);
  context.reply.Array(hash->size());
  hash->ForEach([&](std::string_view field, std::string_view) { context.reply.Bulk(field); });
}

void HVals(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  if (hash == nullptr) return context.reply.Array(0);
  context.reply.Array(hash->size());
  hash->ForEach([&](std::string_view, std::string_view value) { context.reply.Bulk(value); });
}

void HDel(CommandContext& context) {
  const std::string_view key = context.args[1];
  Hash* hash = nullptr;
  if (!context.Write(key, hash)) return;
  int64_t erased = 0;
  if (hash != nullptr) {
    for (const std::string_view field : context.args.subspan(2)) {
      erased += hash->Erase(field) ? 1 : 0;
    }
  }
  if (erased > 0) {
    context.Changed(kEventHash, "hdel", key);
    if (hash->empty()) context.RemoveEmpty(key);
  }
  context.reply.Integer(erased);
}

void HLen(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  context.reply.Integer(hash == nullptr ? 0 : static_cast<int64_t>(hash->size()));
}

void HExists(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  context.reply.Integer(hash != nullptr && hash->Find(context.args[2]) ? 1 : 0);
}

void HStrLen(CommandContext& context) {
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  const auto value = hash == nullptr ? std::nullopt : hash->Find(context.args[2]);
  context.reply.Integer(value ? static_cast<int64_t>(value->text().view().size()) : 0);
}

void HIncrBy(CommandContext& context) {
  const auto delta = context.Int64Arg(3);
  if (!delta) return;
  Hash* hash = WriteOrCreate(context);
  if (hash == nullptr) return;
  const auto [status, value] = hash->Increment(context.args[2], *delta, LimitsOf(context));
  switch (status) {
    case Hash::IncrementStatus::kNotInteger:
      return context.reply.Error("ERR hash value is not an integer");
    case Hash::IncrementStatus::kOverflow:
      return context.reply.Error("ERR increment or decrement would overflow");
    case Hash::IncrementStatus::kOk:
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
  Hash* hash = nullptr;
  if (!context.Write(key, hash)) return;
  long double sum = *delta;
  if (const auto value = hash == nullptr ? std::nullopt : hash->Find(field)) {
    const auto old = ParseLongDouble(value->text().view());
    if (!old) return context.reply.Error("ERR hash value is not a float");
    sum += *old;
  }
  if (!std::isfinite(sum)) {
    return context.reply.Error("ERR increment would produce NaN or Infinity");
  }
  if (hash == nullptr) hash = &Create(context, key);
  std::string text;
  AppendHumanLongDouble(text, sum);
  hash->Set(field, text, LimitsOf(context));
  context.Changed(kEventHash, "hincrbyfloat", key);
  // By its result, so that replay does not depend on this machine's long double.
  context.LogInstead({"HSET", key, field, text});
  context.reply.Bulk(text);
}

void HScan(CommandContext& context) {
  const auto cursor = CursorArg(context, 2);
  if (!cursor) return;
  Hash* hash = nullptr;
  if (!context.Read(context.args[1], hash)) return;
  ScanReply found(context.reply);
  if (hash == nullptr) return found.Finish(0);
  ScanOptions options;
  if (!ParseScanOptions(context, 3, ScanTarget::kElements, options)) return;
  const uint64_t next =
      hash->Scan(*cursor, options.count, [&](std::string_view field, std::string_view value) {
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
  const auto show = [&](std::string_view field, std::string_view value) {
    if (nested) reply.Array(2);
    reply.Bulk(field);
    if (with_values) reply.Bulk(value);
  };
  if (wanted.distinct) {
    return hash.SampleDistinct(count, [&] { return context.server.random(); }, show);
  }
  for (size_t i = 0; i < count; ++i) hash.Sample(context.server.random(), show);
}

void HRandField(CommandContext& context) {
  const Args args = context.args;
  Hash* hash = nullptr;
  if (args.size() == 2) {
    if (!context.Read(args[1], hash)) return;
    if (hash == nullptr) return context.reply.Null();
    return hash->Sample(context.server.random(), [&](std::string_view field, std::string_view) {
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
  if (!context.Read(args[1], hash)) return;
  if (hash == nullptr) return context.reply.Array(0);
  ReplyRandomFields(context, *hash, *wanted, with_values);
}

constexpr KeyRange kOneKey{1, 1, 1};
constexpr uint32_t kStore = kWrite | kDenyOom;

constexpr Command kCommands[] = {
    {"hdel", HDel, -3, kWrite | kFast, OneKey(kDeletesFromKey), "Deletes fields from a hash.",
     "2.0.0"},
    {"hexists", HExists, 3, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Determines whether a field exists in a hash.", "2.0.0"},
    {"hget", HGet, 3, kReadOnly | kFast, kOneKey, "Returns the value of a field in a hash.",
     "2.0.0"},
    {"hgetall", HGetAll, 2, kReadOnly, kOneKey, "Returns all fields and values in a hash.",
     "2.0.0"},
    {"hincrby", HIncrBy, 4, kStore | kFast, kOneKey,
     "Increments the integer value of a field in a hash by a number.", "2.0.0"},
    {"hincrbyfloat", HIncrByFloat, 4, kStore | kFast, kOneKey,
     "Increments the floating point value of a field in a hash by a number.", "2.6.0"},
    {"hkeys", HKeys, 2, kReadOnly, kOneKey, "Returns all fields in a hash.", "2.0.0"},
    {"hlen", HLen, 2, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Returns the number of fields in a hash.", "2.0.0"},
    {"hmget", HMGet, -3, kReadOnly | kFast, kOneKey, "Returns the values of fields in a hash.",
     "2.0.0"},
    {"hmset", HMSet, -4, kStore | kFast, OneKey(kUpdatesKey),
     "Sets the values of fields in a hash.", "2.0.0"},
    {"hrandfield", HRandField, -2, kReadOnly, kOneKey, "Returns random fields from a hash.",
     "6.2.0"},
    {"hscan", HScan, -3, kReadOnly, kOneKey, "Iterates over fields and values of a hash.", "2.8.0"},
    {"hset", HSet, -4, kStore | kFast, OneKey(kUpdatesKey),
     "Sets the values of fields in a hash; replies how many are new.", "2.0.0"},
    {"hsetnx", HSetNx, 4, kStore | kFast, OneKey(kInsertsIntoKey),
     "Sets the value of a field in a hash only when the field doesn't exist.", "2.0.0"},
    {"hstrlen", HStrLen, 3, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Returns the length of the value of a field.", "3.2.0"},
    {"hvals", HVals, 2, kReadOnly, kOneKey, "Returns all values in a hash.", "2.0.0"},
};

}  // namespace

std::span<const Command> HashCommands() { return kCommands; }

}  // namespace tally::server
