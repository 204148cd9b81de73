// Commands on the deadlines of keys: EXPIRE, TTL, PERSIST and their variants. A HITS or LIMIT key
// has a deadline of its own: it may be given an earlier one, but not a later one, or none.

#include <algorithm>
#include <optional>
#include <string>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/engine/own_deadline.h"
#include "server/arguments/expiry_args.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

struct ExpireConditions {
  bool nx = false;
  bool xx = false;
  bool gt = false;
  bool lt = false;

  // Whether a key with the deadline `old_ms` may get the deadline `fresh_ms`. kNoDeadline is later
  // than every other deadline.
  bool Allow(int64_t old_ms, int64_t fresh_ms) const {
    if (nx && old_ms != kNoDeadline) return false;
    if (xx && old_ms == kNoDeadline) return false;
    if (gt && fresh_ms <= old_ms) return false;
    return !(lt && fresh_ms >= old_ms);
  }
};

bool ParseConditions(CommandContext& context, ExpireConditions& conditions) {
  for (const std::string_view word : context.args.subspan(3)) {
    if (IsWord(word, "nx")) {
      conditions.nx = true;
    } else if (IsWord(word, "xx")) {
      conditions.xx = true;
    } else if (IsWord(word, "gt")) {
      conditions.gt = true;
    } else if (IsWord(word, "lt")) {
      conditions.lt = true;
    } else {
      context.reply.Error(StrCat("ERR Unsupported option ", word));
      return false;
    }
  }
  if (conditions.nx && (conditions.xx || conditions.gt || conditions.lt)) {
    context.reply.Error("ERR NX and XX, GT or LT options at the same time are not compatible");
    return false;
  }
  if (conditions.gt && conditions.lt) {
    context.reply.Error("ERR GT and LT options at the same time are not compatible");
    return false;
  }
  return true;
}

void ExpireKey(CommandContext& context, ExpiryArg kind) {
  const std::string_view key = context.args[1];
  ExpireConditions conditions;
  if (!ParseConditions(context, conditions)) return;
  auto deadline_ms = DeadlineArg(context, 2, kind, /*any_sign=*/true);
  if (!deadline_ms) return;
  const Keyspace::Entry entry = context.FindForWrite(key);
  if (!entry || !conditions.Allow(entry.deadline_ms(), *deadline_ms))
    return context.reply.Integer(0);
  deadline_ms = std::min(*deadline_ms, OwnDeadline(entry));
  // In a replay only a record of the log removes a key; a deadline in the past does not.
  if (*deadline_ms <= context.now_ms && !context.replaying) {
    context.Remove(entry);
    context.LogInstead({"DEL", key});
  } else {
    context.keyspace().SetDeadline(entry, *deadline_ms);
    context.Changed(kEventGeneric, "expire", key);
    const Int64Text at(*deadline_ms);
    context.LogInstead({"PEXPIREAT", key, at.view()});
  }
  context.reply.Integer(1);
}

void Expire(CommandContext& context) { ExpireKey(context, {TimeUnit::kSeconds, false}); }
void PExpire(CommandContext& context) { ExpireKey(context, {TimeUnit::kMilliseconds, false}); }
void ExpireAt(CommandContext& context) { ExpireKey(context, {TimeUnit::kSeconds, true}); }
void PExpireAt(CommandContext& context) { ExpireKey(context, {TimeUnit::kMilliseconds, true}); }

// Replies -2 if the key is absent, -1 if it has no deadline, otherwise the deadline minus
// `base_ms`, rounded to units of `unit_ms`.
void ReplyDeadline(CommandContext& context, int64_t base_ms, int64_t unit_ms) {
  const Keyspace::Entry entry = context.Find(context.args[1]);
  if (!entry) return context.reply.Integer(-2);
  if (entry.deadline_ms() == kNoDeadline) return context.reply.Integer(-1);
  // A book or an audience may outlive its deadline for a minute (Keyspace::HasExpired).
  const int64_t left_ms = std::max<int64_t>(0, entry.deadline_ms() - base_ms);
  context.reply.Integer(left_ms / unit_ms + (left_ms % unit_ms * 2 >= unit_ms ? 1 : 0));
}

void Ttl(CommandContext& context) { ReplyDeadline(context, context.now_ms, 1000); }
void PTtl(CommandContext& context) { ReplyDeadline(context, context.now_ms, 1); }
void ExpireTime(CommandContext& context) { ReplyDeadline(context, 0, 1000); }
void PExpireTime(CommandContext& context) { ReplyDeadline(context, 0, 1); }

void Persist(CommandContext& context) {
  const Keyspace::Entry entry = context.FindForWrite(context.args[1]);
  if (!entry) return context.reply.Integer(0);
  const int64_t own_ms = OwnDeadline(entry);
  if (entry.deadline_ms() == own_ms) return context.reply.Integer(0);
  context.keyspace().SetDeadline(entry, own_ms);
  context.Changed(kEventGeneric, "persist", context.args[1]);
  context.reply.Integer(1);
}

constexpr Command kExpiryCommands[] = {
    {"expire", Expire, -3, kWrite | kFast, OneKey(kUpdatesKey),
     "Sets the expiration time of a key in seconds.", "1.0.0",
     "key#0 seconds:int [condition@7.0.0<NX|XX|GT|LT>]"},
    {"expireat", ExpireAt, -3, kWrite | kFast, OneKey(kUpdatesKey),
     "Sets the expiration time of a key to a Unix timestamp.", "1.2.0",
     "key#0 unix-time-seconds:time [condition@7.0.0<NX|XX|GT|LT>]"},
    {"expiretime", ExpireTime, 2, kReadOnly | kFast, kOneKey,
     "Returns the expiration time of a key as a Unix timestamp.", "7.0.0", "key#0"},
    {"persist", Persist, 2, kWrite | kFast, OneKey(kUpdatesKey),
     "Removes the expiration time of a key.", "2.2.0", "key#0"},
    {"pexpire", PExpire, -3, kWrite | kFast, OneKey(kUpdatesKey),
     "Sets the expiration time of a key in milliseconds.", "2.6.0",
     "key#0 milliseconds:int [condition@7.0.0<NX|XX|GT|LT>]"},
    {"pexpireat", PExpireAt, -3, kWrite | kFast, OneKey(kUpdatesKey),
     "Sets the expiration time of a key to a Unix milliseconds timestamp.", "2.6.0",
     "key#0 unix-time-milliseconds:time [condition@7.0.0<NX|XX|GT|LT>]"},
    {"pexpiretime", PExpireTime, 2, kReadOnly | kFast, kOneKey,
     "Returns the expiration time of a key as a Unix milliseconds timestamp.", "7.0.0", "key#0"},
    {"pttl", PTtl, 2, kReadOnly | kFast, kOneKey,
     "Returns the expiration time in milliseconds of a key.", "2.6.0", "key#0"},
    {"ttl", Ttl, 2, kReadOnly | kFast, kOneKey, "Returns the expiration time in seconds of a key.",
     "1.0.0", "key#0"},
};

}  // namespace

std::span<const Command> ExpiryCommands() { return kExpiryCommands; }

}  // namespace tally::server
