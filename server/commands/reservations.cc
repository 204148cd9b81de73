// Reservations: LIMIT.RESERVE takes and holds; LIMIT.COMMIT, EXTEND and CANCEL settle it later.
//
// The logged calls say by which clock they were judged (see EventTime), and are done again without
// being judged:
//   LIMIT.RESERVE id ttl key rule … [AND key rule …] COST n AT t [NOW t]
//   LIMIT.COMMIT id key … COST n [LATE] [KEEP] [FORCE] AT t
//   LIMIT.EXTEND id ttl key … COST n AT t
//   LIMIT.CANCEL id key … AT t
//   LIMIT.TAKE key ALLOW COST 0 AT t
//       A call that changed nothing itself has settled holds of the key that had ended.
#include "core/engine/reservations.h"

#include <absl/container/inlined_vector.h>

#include <iterator>
#include <string_view>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/engine/found_ids.h"
#include "server/arguments/time_args.h"
#include "server/command/engine_call.h"
#include "server/command/usage.h"
#include "server/commands/families.h"
#include "server/commands/limit_args.h"
#include "server/commands/reservation_words.h"
#include "server/commands/settle_args.h"

namespace tally::server {
namespace {

bool ReadId(CommandContext& context) { return CheckId(context, context.args[kHoldIdPlace], "id"); }

bool ReadTtl(CommandContext& context, int64_t& ttl_ms) {
  if (!ReadDuration(context, kHoldIdPlace + 1, "ttl", ttl_ms)) return false;
  if (ttl_ms <= kMaxHoldMs) return true;
  context.reply.Error("ERR ttl must be at most 366d");
  return false;
}

std::string_view WordOf(HoldState state) {
  constexpr std::string_view kWords[] = {"unknown", "held", "committed", "expired", "cancelled"};
  return kWords[static_cast<size_t>(state)];
}

// Logs that holds of the keys were settled because their time was over.
void LogEnded(CommandContext& context, const LimitResult& result) {
  if (!result.set_back) return;
  for (const LimitResult::Key& key : result.keys) {
    if (!key.changed) continue;
    ReportChange(context, key.name, key, "limit.take");
    WordList words = {"LIMIT.TAKE", key.name, "ALLOW", "COST", "0"};
    LogEffect(context, words, EventTime(context));
  }
}

bool CheckResult(CommandContext& context, const LimitResult& result, std::string_view wrong) {
  if (result.wrong_type) {
    context.reply.Error(kWrongTypeError);
  } else if (result.full) {
    context.reply.Error(kFullError);
  } else if (!wrong.empty()) {
    context.reply.Error(StrCat("ERR ", wrong));
  } else {
    return true;
  }
  return false;
}

void ReplyHeld(CommandContext& context, const HoldResult& result) {
  if (!CheckResult(context, result, result.wrong)) return;
  if (result.settled_as != HoldState::kUnknown) {
    return context.reply.Error(StrCat("SETTLED ", WordOf(result.settled_as)));
  }
  if (result.longest_ms >= 0) {
    return context.reply.Error(
        StrCat("ERR ttl must be at most ", FormatDuration(result.longest_ms), ", as HOLDS says"));
  }
  const LimitDecision& decision = result.decision;
  const int64_t fields[] = {
      decision.allowed ? 1 : 0, decision.limit, decision.remaining, decision.retry_after_ms,
      decision.reset_after_ms,  decision.rule,  result.token};
  context.reply.Array(std::size(fields));
  context.reply.Integers(fields);
}

void ReportAll(CommandContext& context, const LimitResult& result, std::string_view event) {
  for (const LimitResult::Key& key : result.keys) ReportChange(context, key.name, key, event);
}

void LimitReserve(CommandContext& context) {
  int64_t ttl_ms = 0;
  LimitArgs limit(context, kHoldIdPlace + 2);
  limit.least_cost = 1;
  if (!ReadId(context) || !ReadTtl(context, ttl_ms) || !limit.Read(context)) return;
  limit.time.LimitLateness(context);
  const HoldRequest request{
      .id = context.args[kHoldIdPlace], .ttl_ms = ttl_ms, .limits = limit.request()};
  const HoldResult result = Reservations(PlaceOf(context)).Reserve(request);
  ReplyHeld(context, result);
  LogEnded(context, result);
  if (!result.counted) return;
  ReportAll(context, result, "limit.reserve");
  if (context.LogsNowhere()) return;
  const DurationText ttl(ttl_ms);
  const Int64Text cost(limit.cost);
  WordList words = {"LIMIT.RESERVE", request.id, ttl.view()};
  std::vector<std::string> counted;
  if (result.decision.shadow_denied == 0) {
    AppendWords(words, {limit.list.words.data(), limit.list.words.size()});
  } else {
    counted = limit.CountedWords(result.decision.shadow_denied);
    words.insert(words.end(), counted.begin(), counted.end());
  }
  words.push_back("COST");
  words.push_back(cost.view());
  LogEffect(context, words, limit.time);
}

void LimitExtend(CommandContext& context) {
  int64_t ttl_ms = 0;
  SettleArgs extend(context);
  if (!ReadId(context) || !ReadTtl(context, ttl_ms) ||
      !extend.Read(context, kHoldIdPlace + 2, true, false)) {
    return;
  }
  const HoldRequest request{.id = context.args[kHoldIdPlace],
                            .ttl_ms = ttl_ms,
                            .limits = {.keys = {extend.keys.data(), extend.keys.size()},
                                       .cost = extend.cost.value_or(0),
                                       .time = {extend.time.at_ms(), extend.time.now_ms()}}};
  const HoldResult result = Reservations(PlaceOf(context)).Extend(request);
  ReplyHeld(context, result);
  LogEnded(context, result);
  if (!result.counted) return;
  ReportAll(context, result, "limit.extend");
  if (context.LogsNowhere()) return;
  const DurationText ttl(ttl_ms);
  const Int64Text cost(request.limits.cost);
  WordList words = {"LIMIT.EXTEND", request.id, ttl.view()};
  extend.AppendKeys(words);
  words.push_back("COST");
  words.push_back(cost.view());
  LogEffect(context, words, extend.time);
}

// The outcome of a call that settles: 1 if this call did it; otherwise how it was settled before.
int64_t OutcomeOf(const Settled& settled) {
  if (settled.found == HoldState::kHeld) return settled.done ? 1 : 0;
  return static_cast<int64_t>(settled.found);
}

void LimitCommit(CommandContext& context) {
  SettleArgs commit(context);
  if (!ReadId(context) || !commit.Read(context, kHoldIdPlace + 1, true, true)) return;
  const CommitRequest request{.id = context.args[kHoldIdPlace],
                              .keys = {commit.keys.data(), commit.keys.size()},
                              .cost = commit.cost,
                              .late = commit.late,
                              .keep = commit.keep,
                              .force = commit.force,
                              .max_holds = context.host.limits.limit_max_holds};
  const SettleResult result = Reservations(PlaceOf(context)).Commit(request, commit.time.now_ms());
  if (CheckResult(context, result, result.wrong)) {
    const int64_t fields[] = {OutcomeOf(result.settled), result.settled.held,
                              result.settled.counted};
    context.reply.Array(std::size(fields));
    context.reply.Integers(fields);
  }
  LogEnded(context, result);
  if (!result.counted) return;
  ReportAll(context, result, "limit.commit");
  for (const KeyRules& key : commit.keys) ReportFreed(context, key.key);
  if (context.LogsNowhere()) return;
  const Int64Text cost(result.settled.counted);
  WordList words = {"LIMIT.COMMIT", request.id};
  commit.AppendKeys(words);
  words.push_back("COST");
  words.push_back(cost.view());
  if (commit.late) words.push_back("LATE");
  if (commit.keep) words.push_back("KEEP");
  if (commit.force) words.push_back("FORCE");
  LogEffect(context, words, commit.time);
}

void LimitCancel(CommandContext& context) {
  SettleArgs cancel(context);
  if (!ReadId(context) || !cancel.Read(context, kHoldIdPlace + 1, false, false)) return;
  const std::string_view id = context.args[kHoldIdPlace];
  const SettleResult result =
      Reservations(PlaceOf(context))
          .Cancel(id, {cancel.keys.data(), cancel.keys.size()}, cancel.time.now_ms());
  if (CheckResult(context, result, result.wrong)) {
    context.reply.Array(2);
    context.reply.Integer(OutcomeOf(result.settled));
    context.reply.Integer(result.settled.held);
  }
  LogEnded(context, result);
  if (!result.counted) return;
  ReportAll(context, result, "limit.cancel");
  for (const KeyRules& key : cancel.keys) ReportFreed(context, key.key);
  if (context.LogsNowhere()) return;
  WordList words = {"LIMIT.CANCEL", id};
  cancel.AppendKeys(words);
  LogEffect(context, words, cancel.time);
}

void LimitHeld(CommandContext& context) {
  std::vector<HeldShown> held;
  const KeyOutcome outcome = Reservations(PlaceOf(context)).Held(context.args[1], held);
  context.NoteLookup(context.args[1], outcome.found);
  if (!CheckOutcome(context, outcome)) return;
  context.reply.Array(held.size());
  for (const HeldShown& one : held) {
    context.reply.Array(5);
    context.reply.Bulk(one.id);
    for (const int64_t field : {one.cost, one.at_ms, one.deadline_ms, one.token}) {
      context.reply.Integer(field);
    }
  }
}

constexpr KeyRange kKeyAfterId{2, 2, 1};
constexpr KeyRange kKeyAfterTtl{3, 3, 1};

// Prefetches the id of each call and the first key of it, which is at `place`.
bool FetchIds(const Keyspace& keyspace, std::span<const Args> calls, size_t place) {
  absl::InlinedVector<KeyAndId, 16> wanted;
  for (const Args call : calls) {
    if (call.size() > place) wanted.push_back({call[place], call[kHoldIdPlace]});
  }
  PrefetchIds(keyspace, wanted);
  return false;
}
bool FetchAfterId(const Keyspace& keyspace, std::span<const Args> calls) {
  return FetchIds(keyspace, calls, kHoldIdPlace + 1);
}
bool FetchAfterTtl(const Keyspace& keyspace, std::span<const Args> calls) {
  return FetchIds(keyspace, calls, kHoldIdPlace + 2);
}

constexpr std::string_view kHold =
    "allowed limit remaining retry_after_ms reset_after_ms rule token";

constexpr Command kReservationCommands[] = {
    Replying("outcome given_back", {.name = "limit.cancel",
                                    .handler = LimitCancel,
                                    .arity = -3,
                                    .flags = kWrite | kFast | kMovableKeys,
                                    .keys = kKeyAfterId,
                                    .summary = "Gives back what is held.",
                                    .since = "1.0.0",
                                    .arguments = "id key#0...",
                                    .find_keys = FindKeysAfterId,
                                    .fetch_ahead = FetchAfterId}),
    Replying("outcome held counted",
             {.name = "limit.commit",
              .handler = LimitCommit,
              .arity = -3,
              .flags = kStores | kFast | kMovableKeys,
              .keys = kKeyAfterId,
              .summary = "Counts what was used of a hold, once, and gives back the rest.",
              .since = "1.0.0",
              .arguments = "id key#0... [COST actual:int] [LATE] [KEEP] [FORCE]",
              .find_keys = FindKeysAfterId,
              .fetch_ahead = FetchAfterId}),
    Replying(kHold, {.name = "limit.extend",
                     .handler = LimitExtend,
                     .arity = -4,
                     .flags = kStores | kFast | kMovableKeys,
                     .keys = kKeyAfterTtl,
                     .summary = "Holds longer, and perhaps more.",
                     .since = "1.0.0",
                     .arguments = "id ttl:time key#0... [COST more:int]",
                     .find_keys = FindKeysAfterTtl,
                     .fetch_ahead = FetchAfterTtl}),
    Replying("[id cost at_ms deadline_ms token]",
             {"limit.held", LimitHeld, 2, kReadOnly, KeyRange{1, 1, 1}, "Returns what a key holds.",
              "1.0.0", "key#0"}),
    Replying(kHold,
             {.name = "limit.reserve",
              .handler = LimitReserve,
              .arity = -5,
              .flags = kStores | kFast | kMovableKeys,
              .keys = kKeyAfterTtl,
              .summary = "Takes as LIMIT.TAKE, and holds it until it is committed, or ends.",
              .since = "1.0.0",
              .arguments =
                  "id ttl key#0 rule... [AND... more(key:key rule...)] [COST n:int] [AT t:time]",
              .find_keys = FindReservedKeys,
              .fetch_ahead = FetchAfterTtl}),
};

}  // namespace

std::span<const Command> ReservationCommands() { return kReservationCommands; }

}  // namespace tally::server
