// Strings: SET and GET in all their forms. Counters are in counters.cc.
#include <algorithm>
#include <string>

#include "core/bytes/number.h"
#include "core/bytes/text.h"
#include "server/arguments/expiry_args.h"
#include "server/command/command_context.h"
#include "server/commands/each_key.h"
#include "server/commands/families.h"
#include "server/commands/string_value.h"

namespace tally::server {
namespace {

constexpr std::string_view kTooLongError =
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

struct SetOptions {
  bool only_if_absent = false;
  bool only_if_present = false;
  bool get = false;
  bool keep_deadline = false;
  std::optional<int64_t> deadline_ms;
};

// Returns false after replying an error.
bool ParseSetOptions(CommandContext& context, SetOptions& options) {
  ExpiryOption expiry;
  for (size_t i = 3; i < context.args.size(); ++i) {
    const std::string_view word = context.args[i];
    if (IsWord(word, "nx") && !options.only_if_present) {
      options.only_if_absent = true;
    } else if (IsWord(word, "xx") && !options.only_if_absent) {
      options.only_if_present = true;
    } else if (IsWord(word, "get")) {
      options.get = true;
    } else if (IsWord(word, "keepttl") && !expiry.kind) {
      options.keep_deadline = true;
    } else if (options.keep_deadline || !expiry.Take(context.args, i)) {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  return expiry.Read(context, options.deadline_ms);
}

void LogSet(CommandContext& context, std::string_view key, std::string_view value,
            int64_t deadline_ms) {
  if (deadline_ms == kNoDeadline) return context.LogInstead({"SET", key, value});
  if (deadline_ms == Keyspace::kKeepDeadline) {
    return context.LogInstead({"SET", key, value, "KEEPTTL"});
  }
  const Int64Text at(deadline_ms);
  context.LogInstead({"SET", key, value, "PXAT", at.view()});
}

// Stores a string. A long value of a call that came alone is taken from the request, not copied.
void PutString(CommandContext& context, std::string_view key, std::string_view value,
               int64_t deadline_ms) {
  if (context.came_alone()) {
    if (Text text = context.TakeFromRequest(value); !text.empty()) {
      return context.keyspace().SetText(key, std::move(text), deadline_ms, context.now_ms);
    }
  }
  context.keyspace().SetString(key, value, deadline_ms, context.now_ms);
}

void StoreString(CommandContext& context, std::string_view key, std::string_view value,
                 int64_t deadline_ms) {
  PutString(context, key, value, deadline_ms);
  context.Changed(kEventString, "set", key);
  if (deadline_ms != kNoDeadline && deadline_ms != Keyspace::kKeepDeadline) {
    context.Changed(kEventGeneric, "expire", key);
  }
}

void SetString(CommandContext& context) {
  const std::string_view key = context.args[1];
  const std::string_view value = context.args[2];
  if (context.args.size() == 3) [[likely]] {
    StoreString(context, key, value, kNoDeadline);
    return context.reply.Ok();
  }
  SetOptions options;
  if (!ParseSetOptions(context, options)) return;
  if (options.get) {
    const Keyspace::Entry old = context.Find(key);
    if (!context.CheckType(old, Type::kString)) return;
    if (old) {
      ReplyString(context.reply, old);
    } else {
      context.reply.Null();
    }
  }
  const bool exists = static_cast<bool>(context.FindForWrite(key));
  if ((options.only_if_absent && exists) || (options.only_if_present && !exists)) {
    if (!options.get) context.reply.Null();
    return;
  }
  const int64_t deadline_ms =
      options.keep_deadline ? Keyspace::kKeepDeadline : options.deadline_ms.value_or(kNoDeadline);
  StoreString(context, key, value, deadline_ms);
  LogSet(context, key, value, deadline_ms);
  if (!options.get) context.reply.Ok();
}

void SetWithTtl(CommandContext& context, TimeUnit unit) {
  const auto deadline_ms = DeadlineArg(context, 2, {unit, false});
  if (!deadline_ms) return;
  StoreString(context, context.args[1], context.args[3], *deadline_ms);
  LogSet(context, context.args[1], context.args[3], *deadline_ms);
  context.reply.Ok();
}

void SetEx(CommandContext& context) { SetWithTtl(context, TimeUnit::kSeconds); }

void PSetEx(CommandContext& context) { SetWithTtl(context, TimeUnit::kMilliseconds); }

void SetNx(CommandContext& context) {
  const bool exists = static_cast<bool>(context.FindForWrite(context.args[1]));
  if (!exists) StoreString(context, context.args[1], context.args[2], kNoDeadline);
  context.reply.Integer(exists ? 0 : 1);
}

// Replies the string, or null if the key is absent. Returns false after replying an error.
bool ReplyGet(CommandContext& context, const Keyspace::Entry& entry) {
  if (!entry) {
    context.reply.Null();
    return true;
  }
  if (!context.CheckType(entry, Type::kString)) return false;
  ReplyString(context.reply, entry);
  return true;
}

void GetString(CommandContext& context) { ReplyGet(context, context.Find(context.args[1])); }

void GetSet(CommandContext& context) {
  if (!ReplyGet(context, context.Find(context.args[1]))) return;
  StoreString(context, context.args[1], context.args[2], kNoDeadline);
  context.LogInstead({"SET", context.args[1], context.args[2]});
}

void GetDel(CommandContext& context) {
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!ReplyGet(context, entry) || !entry) return;
  context.Remove(entry);
  context.LogInstead({"DEL", context.args[1]});
}

void GetEx(CommandContext& context) {
  const std::string_view key = context.args[1];
  bool persist = false;
  ExpiryOption expiry;
  for (size_t i = 2; i < context.args.size(); ++i) {
    if (IsWord(context.args[i], "persist") && !expiry.kind) {
      persist = true;
    } else if (persist || !expiry.Take(context.args, i)) {
      return context.reply.Error(kSyntaxError);
    }
  }
  const Keyspace::Entry entry = context.Find(key);
  if (!context.CheckType(entry, Type::kString)) return;
  if (!entry) return context.reply.Null();
  std::optional<int64_t> deadline_ms;
  if (!expiry.Read(context, deadline_ms)) return;
  ReplyString(context.reply, entry);
  if (deadline_ms && *deadline_ms <= context.now_ms) {
    context.Remove(entry);
    context.LogInstead({"DEL", key});
  } else if (deadline_ms) {
    context.keyspace().SetDeadline(entry, *deadline_ms);
    context.Changed(kEventGeneric, "expire", key);
    const Int64Text at(*deadline_ms);
    context.LogInstead({"PEXPIREAT", key, at.view()});
  } else if (persist && entry.deadline_ms() != kNoDeadline) {
    context.keyspace().SetDeadline(entry, kNoDeadline);
    context.Changed(kEventGeneric, "persist", key);
    context.LogInstead({"PERSIST", key});
  }
}

void MGet(CommandContext& context) {
  context.reply.Array(context.args.size() - 1);
  ForEachKey(context, 1, [&](std::string_view key) {
    const Keyspace::Entry entry = context.Find(key);
    if (entry && entry.type() == Type::kString) {
      ReplyString(context.reply, entry);
    } else {
      context.reply.Null();
    }
  });
}

bool CheckPairs(CommandContext& context) {
  if (context.args.size() % 2 == 1) return true;
  context.reply.Error("ERR wrong number of arguments for '" + context.entry.full_name +
                      "' command");
  return false;
}

void StorePairs(CommandContext& context) {
  const size_t last = context.args.size() - 2;
  for (size_t i = 1; i < last; i += 2) {
    context.keyspace().SetString(context.args[i], context.args[i + 1], kNoDeadline, context.now_ms);
    context.Changed(kEventString, "set", context.args[i]);
  }
  StoreString(context, context.args[last], context.args[last + 1], kNoDeadline);
}

void MSet(CommandContext& context) {
  if (!CheckPairs(context)) return;
  StorePairs(context);
  context.reply.Ok();
}

void MSetNx(CommandContext& context) {
  if (!CheckPairs(context)) return;
  for (size_t i = 1; i < context.args.size(); i += 2) {
    if (context.FindForWrite(context.args[i])) return context.reply.Integer(0);
  }
  StorePairs(context);
  context.reply.Integer(1);
}

bool FitsLimit(CommandContext& context, size_t size, size_t more) {
  size_t total = 0;
  const auto limit = static_cast<size_t>(MaxStringBytes(context));
  if (!__builtin_add_overflow(size, more, &total) && total <= limit) return true;
  context.reply.Error(kTooLongError);
  return false;
}

void Append(CommandContext& context) {
  const std::string_view key = context.args[1];
  const std::string_view tail = context.args[2];
  const Keyspace::Entry entry = context.FindForWrite(key);
  if (!context.CheckType(entry, Type::kString)) return;
  size_t size = tail.size();
  if (!entry) {
    PutString(context, key, tail, kNoDeadline);
  } else {
    size = StringText(entry).view().size();
    if (!FitsLimit(context, size, tail.size())) return;
    Text& text = context.keyspace().MutableString(entry, {.begin = size});
    text.Append(tail);
    size = text.size();
  }
  context.Changed(kEventString, "append", key);
  context.reply.Integer(static_cast<int64_t>(size));
}

void StrLen(CommandContext& context) {
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!context.CheckType(entry, Type::kString)) return;
  context.reply.Integer(entry ? static_cast<int64_t>(StringText(entry).view().size()) : 0);
}

void GetRange(CommandContext& context) {
  const auto start = context.Int64Arg(2);
  if (!start) return;
  const auto end = context.Int64Arg(3);
  if (!end) return;
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!context.CheckType(entry, Type::kString)) return;
  if (!entry) return context.reply.Bulk("");
  const StringText text(entry);
  const auto size = static_cast<int64_t>(text.view().size());
  if (*start < 0 && *end < 0 && *start > *end) return context.reply.Bulk("");
  const int64_t first = *start < 0 ? std::max<int64_t>(size + *start, 0) : *start;
  const int64_t last = std::min(*end < 0 ? std::max<int64_t>(size + *end, 0) : *end, size - 1);
  if (first > last) return context.reply.Bulk("");
  ReplyBytes(context.reply, entry, static_cast<size_t>(first),
             static_cast<size_t>(last - first + 1));
}

void SetRange(CommandContext& context) {
  const std::string_view key = context.args[1];
  const std::string_view part = context.args[3];
  const auto offset = context.Int64Arg(2);
  if (!offset) return;
  if (*offset < 0) return context.reply.Error("ERR offset is out of range");
  Keyspace::Entry entry = context.FindForWrite(key);
  if (!context.CheckType(entry, Type::kString)) return;
  if (part.empty()) {
    const size_t size = entry ? StringText(entry).view().size() : 0;
    return context.reply.Integer(static_cast<int64_t>(size));
  }
  if (!FitsLimit(context, static_cast<size_t>(*offset), part.size())) return;
  if (!entry) {
    context.keyspace().SetString(key, "", kNoDeadline, context.now_ms);
    entry = context.FindForWrite(key);
  }
  const auto begin = static_cast<size_t>(*offset);
  Text& text =
      context.keyspace().MutableString(entry, {.begin = begin, .end = begin + part.size()});
  text.Resize(std::max(text.size(), static_cast<size_t>(*offset) + part.size()));
  std::copy(part.begin(), part.end(), text.data() + *offset);
  context.Changed(kEventString, "setrange", key);
  context.reply.Integer(static_cast<int64_t>(text.size()));
}

// Without GET the command does not reply the old value, so it only overwrites the key.
bool FindSetKey(Args args, std::vector<KeyReference>& keys) {
  const bool gets = std::any_of(args.begin() + 3, args.end(),
                                [](std::string_view arg) { return IsWord(arg, "get"); });
  keys.push_back({1, gets ? kChangesKey : kOverwritesKey});
  return true;
}

constexpr Command kStringCommands[] = {
    {"append", Append, 3, kStores | kFast, OneKey(kInsertsIntoKey),
     "Appends a string to the value of a key.", "2.0.0", "key#0 value"},
    {"get", GetString, 2, kReadOnly | kFast, kOneKey, "Returns the string value of a key.", "1.0.0",
     "key#0"},
    {"getdel", GetDel, 2, kWrite | kFast, OneKey(kTakesFromKey),
     "Returns the string value of a key after deleting the key.", "6.2.0", "key#0"},
    {"getex", GetEx, -2, kWrite | kFast, kOneKey,
     "Returns the string value of a key after setting its expiration time.", "6.2.0",
     "key#0 [expiration<EX seconds:int|PX milliseconds:int|EXAT unix-time-seconds:time|PXAT "
     "unix-time-milliseconds:time|PERSIST>]"},
    {"getrange", GetRange, 4, kReadOnly, kOneKey,
     "Returns a substring of the string stored at a key.", "2.4.0", "key#0 start:int end:int"},
    {"getset", GetSet, 3, kStores | kFast, kOneKey,
     "Returns the previous string value of a key after setting it to a new value.", "1.0.0",
     "key#0 value"},
    {"mget",
     MGet,
     -2,
     kReadOnly | kFast,
     {1, -1, 1},
     "Returns the string values of keys.",
     "1.0.0",
     "key#0..."},
    {"mset",
     MSet,
     -3,
     kStores,
     {1, -1, 2, kOverwritesKey},
     "Sets the string values of keys.",
     "1.0.1",
     "key_value(key#0 value)..."},
    {"msetnx",
     MSetNx,
     -3,
     kStores,
     {1, -1, 2, kCreatesKey},
     "Sets the string values of keys when none of them exists.",
     "1.0.1",
     "key_value(key#0 value)..."},
    {"psetex", PSetEx, 4, kStores, OneKey(kOverwritesKey),
     "Sets the string value and expiration time in milliseconds of a key.", "2.6.0",
     "key#0 milliseconds:int value"},
    {"set",
     SetString,
     -3,
     kStores,
     OneKey(kChangesKey | kKeyVariable),
     "Sets the string value of a key, ignoring its type.",
     "1.0.0",
     "key#0 value [condition@2.6.12<NX|XX>] [GET@6.2.0] [expiration<EX seconds:int@2.6.12|PX "
     "milliseconds:int@2.6.12|EXAT unix-time-seconds:time@6.2.0|PXAT "
     "unix-time-milliseconds:time@6.2.0|KEEPTTL@6.0.0>]",
     {},
     FindSetKey},
    {"setex", SetEx, 4, kStores, OneKey(kOverwritesKey),
     "Sets the string value and expiration time of a key.", "2.0.0", "key#0 seconds:int value"},
    {"setnx", SetNx, 3, kStores | kFast, OneKey(kCreatesKey),
     "Sets the string value of a key only when the key doesn't exist.", "1.0.0", "key#0 value"},
    {"setrange", SetRange, 4, kStores, OneKey(kUpdatesKey),
     "Overwrites a part of a string value with another by an offset.", "2.2.0",
     "key#0 offset:int value"},
    {"strlen", StrLen, 2, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Returns the length of a string value.", "2.2.0", "key#0"},
    {"substr", GetRange, 4, kReadOnly, kOneKey, "Returns a substring from a string value.", "1.0.0",
     "key#0 start:int end:int"},
};

}  // namespace

std::span<const Command> StringCommands() { return kStringCommands; }

}  // namespace tally::server
