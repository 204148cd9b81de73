// Commands on keys of any type: existence, names, copies. Expiry is in expiry.cc, SCAN in scan.cc.
#include <algorithm>
#include <string>
#include <vector>

#include "core/bytes/glob.h"
#include "core/bytes/number.h"
#include "core/bytes/text.h"
#include "server/command/command_context.h"
#include "server/command/help.h"
#include "server/commands/each_key.h"
#include "server/commands/entry_description.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

void Delete(CommandContext& context) {
  int64_t deleted = 0;
  ForEachKey(context, 1, [&](std::string_view key) {
    const Keyspace::Entry entry = context.FindForWrite(key);
    if (!entry) return;
    context.Remove(entry);
    ++deleted;
  });
  context.reply.Integer(deleted);
}

void Exists(CommandContext& context) {
  int64_t found = 0;
  ForEachKey(context, 1, [&](std::string_view key) { found += context.Find(key) ? 1 : 0; });
  context.reply.Integer(found);
}

void TypeOfKey(CommandContext& context) {
  const Keyspace::Entry entry = context.keyspace().Find(context.args[1], context.now_ms);
  context.reply.Status(entry ? TypeName(entry.type()) : "none");
}

// Stores a heap value; `raw` marks a string that has been changed in place (Entry::is_raw).
void StorePointer(Keyspace& to, std::string_view key, Type type, void* value, int64_t deadline_ms,
                  bool raw, int64_t now_ms) {
  to.SetPointer(key, type, value, deadline_ms, now_ms);
  if (raw) to.MutableString(to.FindForWrite(key, now_ms), {.begin = 0, .end = 0});
}

// Stores a copy of an entry's value, with its deadline, at another key, in the same keyspace or
// another.
void CopyValue(const Keyspace::Entry& from, Keyspace& to, std::string_view key, int64_t now_ms) {
  const int64_t deadline_ms = from.deadline_ms();
  if (from.is_integer()) return to.SetInteger(key, from.integer(), deadline_ms, now_ms);
  if (from.is_heap()) {
    const Type type = from.type();
    void* value = OperationsOf(type).clone(from.pointer());
    return StorePointer(to, key, type, value, deadline_ms, from.is_raw(), now_ms);
  }
  // The bytes are copied, because they lie in the record, which the next call may move.
  const std::string bytes(from.bytes());
  to.SetPacked(key, from.type(), bytes, deadline_ms, now_ms);
}

// As CopyValue, but removes `from`; a heap value is handed over instead of copied.
void MoveValue(Keyspace& source, const Keyspace::Entry& from, Keyspace& to, std::string_view key,
               int64_t now_ms) {
  if (!from.is_heap()) {
    const std::string old_key(from.key());
    CopyValue(from, to, key, now_ms);
    return source.Erase(source.FindForWrite(old_key, now_ms));
  }
  const Type type = from.type();
  const int64_t deadline_ms = from.deadline_ms();
  const bool raw = from.is_raw();
  void* value = source.Release(from);
  StorePointer(to, key, type, value, deadline_ms, raw, now_ms);
}

void RenameTo(CommandContext& context, bool only_if_absent) {
  const std::string_view from = context.args[1];
  const std::string_view to = context.args[2];
  Keyspace& keyspace = context.keyspace();
  if (!context.FindForWrite(from)) return context.reply.Error(kNoSuchKeyError);
  const auto done = [&](int64_t renamed) {
    if (only_if_absent) return context.reply.Integer(renamed);
    context.reply.Ok();
  };
  if (from == to) return done(0);
  if (const Keyspace::Entry target = context.FindForWrite(to)) {
    if (only_if_absent) return done(0);
    keyspace.Erase(target);
  }
  MoveValue(keyspace, context.FindForWrite(from), keyspace, to, context.now_ms);
  context.Changed(kEventGeneric, "rename_from", from);
  context.Changed(kEventGeneric, "rename_to", to);
  done(1);
}

void Rename(CommandContext& context) { RenameTo(context, false); }

void RenameNx(CommandContext& context) { RenameTo(context, true); }

void Move(CommandContext& context) {
  const std::string_view key = context.args[1];
  const auto target = context.DatabaseArg(2);
  if (!target) return;
  if (*target == context.database) {
    return context.reply.Error("ERR source and destination objects are the same");
  }
  Keyspace& to = context.engine().database(*target);
  const Keyspace::Entry entry = context.FindForWrite(key);
  if (!entry || to.Find(key, context.now_ms)) return context.reply.Integer(0);
  MoveValue(context.keyspace(), entry, to, key, context.now_ms);
  context.Changed(kEventGeneric, "move_from", key);
  context.host.key_events.Changed(kEventGeneric, "move_to", *target, key);
  context.reply.Integer(1);
}

struct CopyOptions {
  size_t database;
  bool replace = false;
};

bool ParseCopyOptions(CommandContext& context, CopyOptions& options) {
  for (size_t i = 3; i < context.args.size(); ++i) {
    if (IsWord(context.args[i], "replace")) {
      options.replace = true;
    } else if (IsWord(context.args[i], "db") && i + 1 < context.args.size()) {
      const auto database = context.DatabaseArg(++i);
      if (!database) return false;
      options.database = *database;
    } else {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  return true;
}

void Copy(CommandContext& context) {
  const std::string_view from = context.args[1];
  const std::string_view to = context.args[2];
  CopyOptions options{context.database};
  if (!ParseCopyOptions(context, options)) return;
  if (options.database == context.database && from == to) {
    return context.reply.Error("ERR source and destination objects are the same");
  }
  Keyspace& target = context.engine().database(options.database);
  if (!context.Find(from)) return context.reply.Integer(0);
  if (const Keyspace::Entry old = target.FindForWrite(to, context.now_ms)) {
    if (!options.replace) return context.reply.Integer(0);
    target.Erase(old);
  }
  CopyValue(context.keyspace().Find(from, context.now_ms), target, to, context.now_ms);
  context.CountChange();
  context.host.key_events.Changed(kEventGeneric, "copy_to", options.database, to);
  context.reply.Integer(1);
}

void Touch(CommandContext& context) { Exists(context); }

void RandomKey(CommandContext& context) {
  Keyspace& keyspace = context.keyspace();
  while (const Keyspace::Entry entry = keyspace.Sample(context.host.random())) {
    const std::string key(entry.key());
    // Find removes the key if it has expired.
    if (keyspace.Find(key, context.now_ms)) return context.reply.Bulk(key);
  }
  context.reply.Null();
}

void Keys(CommandContext& context) {
  const std::string_view pattern = context.args[1];
  const bool all = pattern == "*";  // matches the empty key too
  const Keyspace& keyspace = context.keyspace();
  const size_t mark = context.reply.BeginArray();
  size_t found = 0;
  uint64_t position = 0;
  while (const Keyspace::Segment* segment = keyspace.NextSegment(position)) {
    keyspace.ForEach(*segment, [&](const Keyspace::Entry& entry) {
      if (keyspace.HasExpired(entry, context.now_ms) || !(all || GlobMatch(pattern, entry.key())))
        return;
      context.reply.Bulk(entry.key());
      ++found;
    });
  }
  context.reply.EndArray(mark, found);
}

// Returns the entry that OBJECT looks at, without marking an access; replies null if it is absent.
Keyspace::Entry PeekOrNull(CommandContext& context) {
  const std::string_view key = context.args[2];
  context.keyspace().ExpireIfDue(key, context.now_ms);
  const Keyspace::Entry entry = context.keyspace().Peek(key, context.now_ms);
  if (!entry) context.reply.Null();
  return entry;
}

void ObjectEncoding(CommandContext& context) {
  if (const Keyspace::Entry entry = PeekOrNull(context)) context.reply.Bulk(EncodingOf(entry));
}

void ObjectRefCount(CommandContext& context) {
  if (PeekOrNull(context)) context.reply.Integer(1);
}

bool UsesFrequency(CommandContext& context) {
  return context.keyspace().access_tracking().by_frequency;
}

void ObjectIdleTime(CommandContext& context) {
  const Keyspace::Entry entry = PeekOrNull(context);
  if (!entry) return;
  if (UsesFrequency(context)) {
    return context.reply.Error(
        "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when "
        "switching between policies at runtime LRU and LFU data will take some time to adjust.");
  }
  const AccessTracking& tracking = context.keyspace().access_tracking();
  context.reply.Integer(IdleSeconds(entry.access(), tracking.Passed(context.now_ms)));
}

void ObjectFreq(CommandContext& context) {
  const Keyspace::Entry entry = PeekOrNull(context);
  if (!entry) return;
  if (!UsesFrequency(context)) {
    return context.reply.Error(
        "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note "
        "that when switching between policies at runtime LRU and LFU data will take some time to "
        "adjust.");
  }
  const AccessTracking& tracking = context.keyspace().access_tracking();
  context.reply.Integer(FrequencyOf(entry.access(), tracking, tracking.Passed(context.now_ms)));
}

void ObjectHelp(CommandContext& context) {
  constexpr std::string_view kLines[] = {
      "ENCODING <key>",
      "    Return the kind of internal representation used in order to store the value",
      "    associated with a <key>.",
      "FREQ <key>",
      "    Return the access frequency index of the <key>. The returned integer is",
      "    proportional to the logarithm of the recent access frequency of the key.",
      "IDLETIME <key>",
      "    Return the idle time of the <key>, that is the approximated number of",
      "    seconds elapsed since the last access to the key.",
      "REFCOUNT <key>",
      "    Return the number of references of the value associated with the specified",
      "    <key>.",
  };
  ReplyHelp(context, kLines);
}

constexpr KeyRange kSecondWord{2, 2, 1, kLooksAtKey};

constexpr Command kObjectCommands[] = {
    {"encoding", ObjectEncoding, 3, kReadOnly, kSecondWord,
     "Returns the internal encoding of a value.", "2.2.3", "key#0"},
    {"freq", ObjectFreq, 3, kReadOnly, kSecondWord,
     "Returns the logarithmic access frequency counter of a key.", "4.0.0", "key#0"},
    {"help", ObjectHelp, 2, kAnyTime, {}, "Returns helpful text about the subcommands.", "6.2.0"},
    {"idletime", ObjectIdleTime, 3, kReadOnly, kSecondWord,
     "Returns the time since the last access to a key.", "2.2.3", "key#0"},
    {"refcount", ObjectRefCount, 3, kReadOnly, kSecondWord,
     "Returns the reference count of a value: always 1.", "2.2.3", "key#0"},
};

constexpr Command kKeyCommands[] = {
    {"copy", Copy, -3, kStores, TwoKeys(kReadsKey, kOverwritesKey),
     "Copies the value of a key to a new key.", "6.2.0",
     "source#0 destination#1 [DB destination-db:int] [REPLACE]"},
    {"del", Delete, -2, kWrite, AllKeys(kRemovesKey), "Deletes one or more keys.", "1.0.0",
     "key#0..."},
    {"exists", Exists, -2, kReadOnly | kFast, AllKeys(kLooksAtKey),
     "Determines whether keys exist.", "1.0.0", "key#0..."},
    {"keys",
     Keys,
     2,
     kReadOnly | kDangerous,
     {},
     "Returns all key names that match a pattern.",
     "1.0.0",
     "pattern:pattern"},
    {"move", Move, 3, kWrite | kFast, OneKey(kChangesKey), "Moves a key to another database.",
     "1.0.0", "key#0 db:int"},
    {"object",
     nullptr,
     -2,
     0,
     {},
     "A container for commands that look into values.",
     "2.2.3",
     "",
     kObjectCommands},
    {"randomkey", RandomKey, 1, kReadOnly, {}, "Returns a random key name.", "1.0.0"},
    {"rename", Rename, 3, kWrite, TwoKeys(kTakesFromKey, kOverwritesKey),
     "Renames a key and overwrites the destination.", "1.0.0", "key#0 newkey#1"},
    {"renamenx", RenameNx, 3, kWrite | kFast, TwoKeys(kTakesFromKey, kCreatesKey),
     "Renames a key only when the target key name doesn't exist.", "1.0.0", "key#0 newkey#1"},
    {"touch", Touch, -2, kReadOnly | kFast, AllKeys(kLooksAtKey),
     "Returns the number of existing keys and marks their access.", "3.2.1", "key#0..."},
    {"type", TypeOfKey, 2, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Determines the type of value stored at a key.", "1.0.0", "key#0"},
    {"unlink", Delete, -2, kWrite | kFast, AllKeys(kRemovesKey),
     "Deletes keys; large values are freed in slices, as DEL does.", "4.0.0", "key#0..."},
};

}  // namespace

std::span<const Command> KeyCommands() { return kKeyCommands; }

}  // namespace tally::server
