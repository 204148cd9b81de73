// DUMP and RESTORE: a key's value as bytes that Redis and Valkey read and write. Only for servers:
// where tally.so is hosted, Redis has these commands itself.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/engine/own_deadline.h"
#include "server/admin/families.h"
#include "server/command/command_context.h"
#include "server/rdb/dump_payload.h"
#include "server/rdb/engine_sink.h"
#include "server/rdb/skipped_values.h"

namespace tally::server {
namespace {

void Dump(CommandContext& context) {
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!entry) return context.reply.Null();
  context.reply.Bulk(rdb::DumpPayload(entry));
}

struct RestoreOptions {
  bool replace = false;
  bool is_instant = false;  // the ttl is the deadline itself
  std::optional<int64_t> idle_seconds;
  std::optional<int64_t> frequency;
};

bool ParseRestoreMark(CommandContext& context, size_t index, RestoreOptions& options) {
  const bool is_idle = IsWord(context.args[index], "idletime");
  const auto value = context.Int64Arg(index + 1);
  if (!value) return false;
  if (*value < 0 || (!is_idle && *value > UINT8_MAX)) {
    context.reply.Error(is_idle ? "ERR Invalid IDLETIME value, must be >= 0"
                                : "ERR Invalid FREQ value, must be >= 0 and <= 255");
    return false;
  }
  (is_idle ? options.idle_seconds : options.frequency) = value;
  return true;
}

bool ParseRestoreOptions(CommandContext& context, RestoreOptions& options) {
  for (size_t i = 4; i < context.args.size(); ++i) {
    const std::string_view word = context.args[i];
    const bool has_mark = options.idle_seconds || options.frequency;
    const bool is_mark = IsWord(word, "idletime") || IsWord(word, "freq");
    const bool is_second =
        IsWord(word, "idletime") ? options.frequency.has_value() : options.idle_seconds.has_value();
    if (IsWord(word, "replace")) {
      options.replace = true;
    } else if (IsWord(word, "absttl")) {
      options.is_instant = true;
    } else if (is_mark && i + 1 < context.args.size() && !(has_mark && is_second)) {
      if (!ParseRestoreMark(context, i++, options)) return false;
    } else {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  return true;
}

std::optional<int64_t> RestoredDeadline(CommandContext& context, bool is_instant) {
  const auto ttl_ms = context.Int64Arg(2);
  if (!ttl_ms) return std::nullopt;
  if (*ttl_ms < 0) {
    context.reply.Error("ERR Invalid TTL value, must be >= 0");
    return std::nullopt;
  }
  if (*ttl_ms == 0) return kNoDeadline;
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max() - 1;
  if (is_instant) return std::min(*ttl_ms, kMost);
  if (*ttl_ms <= kMost - context.now_ms) return context.now_ms + *ttl_ms;
  context.reply.Error("ERR invalid expire time in 'restore' command");
  return std::nullopt;
}

// Returns false after an error reply; then nothing has changed.
bool StoreRestored(CommandContext& context, Engine& engine, const rdb::KeyHead& head) {
  const std::string_view payload = context.args[3];
  rdb::SkippedValues skipped;
  rdb::EngineSink sink(engine, context.host.limits, skipped,
                       {.keep_expired = true, .replace = true});
  sink.set_now(context.now_ms);
  sink.Database(head.database);
  std::string why;
  if (const absl::Status status = rdb::RestorePayload(payload, head, sink); !status.ok()) {
    why = std::string(status.message());
  }
  skipped.ForEachLine([&](std::string_view line) {
    why = StrCat("there is no type here for a ", line.substr(0, line.find(':')));
  });
  if (why.empty()) return true;
  context.reply.Error(StrCat("ERR Bad data format: ", why));
  return false;
}

void LogRestored(CommandContext& context, std::string_view key, int64_t deadline_ms) {
  const Int64Text instant(deadline_ms == kNoDeadline ? 0 : deadline_ms);
  context.LogInstead({"RESTORE", key, instant.view(), context.args[3], "REPLACE", "ABSTTL"});
}

// The deadline has passed: the value is checked, and the key has none.
void RestorePassed(CommandContext& context, rdb::KeyHead head) {
  Engine elsewhere(context.engine().zones());
  head.database = 0;
  if (!StoreRestored(context, elsewhere, head)) return;
  context.reply.Ok();
  const Keyspace::Entry old = context.FindForWrite(head.key);
  if (!old) return context.LogNothing();
  context.LogInstead({"DEL", head.key});
  context.Remove(old);
}

void Restore(CommandContext& context) {
  const std::string_view key = context.args[1];
  RestoreOptions options;
  if (!ParseRestoreOptions(context, options)) return;
  const bool existed = static_cast<bool>(context.FindForWrite(key));
  if (existed && !options.replace) {
    return context.reply.Error("BUSYKEY Target key name already exists.");
  }
  const auto deadline_ms = RestoredDeadline(context, options.is_instant);
  if (!deadline_ms) return;
  if (!rdb::IsPayload(context.args[3])) {
    return context.reply.Error("ERR DUMP payload version or checksum are wrong");
  }
  rdb::KeyHead head;
  head.key = key;
  head.database = context.database;
  head.deadline_ms = *deadline_ms;
  if (options.idle_seconds) head.idle_seconds = static_cast<uint64_t>(*options.idle_seconds);
  if (options.frequency) head.frequency = static_cast<uint8_t>(*options.frequency);
  if (*deadline_ms != kNoDeadline && *deadline_ms <= context.now_ms && !context.replaying) {
    return RestorePassed(context, head);
  }
  if (!StoreRestored(context, context.engine(), head)) return;
  Keyspace& keyspace = context.keyspace();
  Keyspace::Entry entry = keyspace.Peek(key);
  const int64_t own_ms = *deadline_ms == kNoDeadline ? OwnDeadline(entry) : kNoDeadline;
  if (own_ms != kNoDeadline) entry = keyspace.SetDeadline(entry, own_ms);
  context.reply.Ok();
  // A log that is replayed removes by itself what was removed.
  if (entry.expired(context.now_ms) && !context.replaying) {
    if (!existed) {
      keyspace.Erase(entry);
      return context.LogNothing();
    }
    context.LogInstead({"DEL", key});
    return context.Remove(entry);
  }
  LogRestored(context, key, entry.deadline_ms());
  context.Changed(kEventGeneric, "restore", key);
}

constexpr Command kSerializationCommands[] = {
    {"dump", Dump, 2, kReadOnly, OneKey(kReadsKey),
     "Returns a serialized form of the value of a key, as Redis 7 writes it.", "2.6.0", "key#0"},
    {"restore", Restore, -4, kStores | kDangerous, OneKey(kOverwritesKey),
     "Creates a key from the serialized form of a value.", "2.6.0",
     "key#0 ttl:int serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME seconds:int@5.0.0] "
     "[FREQ frequency:int@5.0.0]"},
};

// A node of a cluster that moves a key by MIGRATE sends this.
constexpr Command kClusterSerializationCommands[] = {
    {"restore-asking", Restore, -4, kStores | kDangerous, OneKey(kOverwritesKey),
     "Does what RESTORE does, for nodes of a cluster.", "3.0.0",
     "key#0 ttl:int serialized-value [REPLACE@3.0.0] [ABSTTL@5.0.0] [IDLETIME seconds:int@5.0.0] "
     "[FREQ frequency:int@5.0.0]"},
};

}  // namespace

std::span<const Command> SerializationCommands() { return kSerializationCommands; }

std::span<const Command> ClusterSerializationCommands() { return kClusterSerializationCommands; }

}  // namespace tally::server
