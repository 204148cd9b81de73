// LIMIT: decides whether something may happen now under all rules of all keys. CL.THROTTLE does the
// same for clients of redis-cell.
//
// The logged calls say when something happened and by which clock this was judged (see EventTime):
//   LIMIT.TAKE key rule … [AND key rule …] COST n [ONCE id] AT t [NOW t]
//       Logged only if something was taken, also by CL.THROTTLE. A replay counts the hits again
//       without judging them again. The rules of a policy are logged in place of its name, so that
//       a later change of the policy does not change the past. A COST of 0 says that a denial has
//       only set counters back to NOW, because the server's clock was set back.
//   LIMIT.FORCE with the same words, which are counted in their own place.
//   LIMIT.GIVE key n AT t NOW t
//   LIMIT.RESET key
#include "core/engine/limits.h"

#include <iterator>
#include <string_view>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/limit/rule_forms.h"
#include "core/time/duration.h"
#include "server/arguments/time_args.h"
#include "server/command/engine_call.h"
#include "server/command/help.h"
#include "server/command/usage.h"
#include "server/commands/families.h"
#include "server/commands/limit_args.h"
#include "server/commands/limit_show.h"
#include "server/commands/reservation_words.h"

namespace tally::server {
namespace {

static_assert(Limits::kMaxCounters == 1'000, "kFullError says so");

void ReplyDecision(ReplyBuilder& reply, const LimitDecision& decision) {
  const int64_t fields[] = {decision.allowed ? 1 : 0, decision.limit,          decision.remaining,
                            decision.retry_after_ms,  decision.reset_after_ms, decision.rule};
  reply.Array(std::size(fields));
  reply.Integers(fields);
}

// Logs what was taken by the rules but those of `shadow_denied`.
void LogTaken(CommandContext& context, std::string_view command, int64_t taken,
              const LimitArgs& limit, uint64_t shadow_denied) {
  if (context.LogsNowhere()) return;
  const Int64Text cost(taken);
  WordList words = {command};
  std::vector<std::string> counted;
  if (shadow_denied == 0) [[likely]] {
    AppendWords(words, {limit.list.words.data(), limit.list.words.size()});
  } else {
    counted = limit.CountedWords(shadow_denied);
    words.insert(words.end(), counted.begin(), counted.end());
  }
  words.push_back("COST");
  words.push_back(cost.view());
  if (taken > 0 && !limit.once.empty()) {
    words.push_back("ONCE");
    words.push_back(limit.once);
  }
  LogEffect(context, words, limit.time);
}

// Reports what a decision did to its keys.
void ReportChanges(CommandContext& context, const LimitResult& result) {
  for (const LimitResult::Key& key : result.keys)
    ReportChange(context, key.name, key, "limit.take");
}

void Decide(CommandContext& context, LimitMode mode) {
  LimitArgs limit(context);
  if (!limit.Read(context, mode != LimitMode::kPeek)) return;
  const bool force = mode == LimitMode::kForce;
  if (!force) limit.time.LimitLateness(context);
  const LimitResult result = Limits(PlaceOf(context)).Decide(limit.request(), mode);
  if (mode == LimitMode::kPeek) {
    for (const LimitResult::Key& key : result.keys) context.NoteLookup(key.name, key.found);
  }
  if (result.wrong_type) return context.reply.Error(kWrongTypeError);
  if (result.full) {
    context.reply.Error(kFullError);
  } else if (!result.wrong.empty()) {
    context.reply.Error(StrCat("ERR ", result.wrong));
  } else {
    ReplyDecision(context.reply, result.decision);
  }
  if (!result.counted && !result.set_back) return;
  ReportChanges(context, result);
  const bool counted = result.counted;
  LogTaken(context, force ? "LIMIT.FORCE" : "LIMIT.TAKE", counted ? limit.cost : 0, limit,
           counted && !force ? result.decision.shadow_denied : 0);
}

// In a replay it was allowed before, so it is counted without being judged.
void LimitTake(CommandContext& context) {
  Decide(context, context.replaying ? LimitMode::kCount : LimitMode::kTake);
}

void LimitPeek(CommandContext& context) { Decide(context, LimitMode::kPeek); }

void LimitForce(CommandContext& context) { Decide(context, LimitMode::kForce); }

struct GiveArgs {
  int64_t count = 1;
  EventTime time;
  // Without AT the newest hits are given back, whenever they were taken; with AT the newest of
  // those that are not after it.
  bool has_at = false;
};

bool ParseGive(CommandContext& context, GiveArgs& give) {
  const Args args = context.args;
  size_t index = 2;
  OptionWords options;
  if (args.size() > index && !IsWord(args[index], "at")) {
    if (!ReadCount(context, index, "n", 0, give.count)) return false;
    ++index;
  }
  for (; index < args.size(); index += 2) {
    give.has_at |= IsWord(args[index], "at");
    if (!give.time.ReadOption(context, index, options)) return false;
  }
  return true;
}

void LimitGive(CommandContext& context) {
  const std::string_view key = context.args[1];
  GiveArgs give{.time = EventTime(context)};
  if (!ParseGive(context, give)) return;
  const int64_t not_after_ms = give.has_at ? give.time.at_ms() : kMaxInstantMs;
  const KeyOutcome outcome =
      Limits(PlaceOf(context)).Give(key, give.count, give.time.now_ms(), not_after_ms);
  if (!CheckOutcome(context, outcome)) return;
  context.reply.Integer(outcome.found ? 1 : 0);
  if (!outcome.changed) return;
  ReportChange(context, key, outcome, "limit.give");
  ReportFreed(context, key);
  const Int64Text count(give.count);
  const InstantText at(not_after_ms);
  const InstantText now(give.time.now_ms());
  context.LogInstead({"LIMIT.GIVE", key, count.view(), "AT", at.view(), "NOW", now.view()});
}

void LimitReset(CommandContext& context) {
  const KeyOutcome outcome = Limits(PlaceOf(context)).Reset(context.args[1]);
  if (!CheckOutcome(context, outcome)) return;
  context.reply.Integer(outcome.found ? 1 : 0);
  if (!outcome.changed) return;
  context.Changed(kEventGeneric, "del", context.args[1]);
  ReportFreed(context, context.args[1]);
}

struct ThrottleArgs {
  int64_t max_burst = 0;
  int64_t count = 0;
  int64_t period_s = 0;
  int64_t quantity = 1;
};

// Sets `rule` to the bucket that the arguments mean. Returns false after replying an error.
bool ParseThrottle(CommandContext& context, ThrottleArgs& throttle, LimitRule& rule) {
  if (context.args.size() > 6) {
    ReplySyntaxError(context);
    return false;
  }
  if (!ReadCount(context, 2, "max_burst", 0, throttle.max_burst) ||
      !ReadCount(context, 3, "count", 1, throttle.count) ||
      !ReadCount(context, 4, "period", 1, throttle.period_s)) {
    return false;
  }
  if (context.args.size() == 6 && !ReadCount(context, 5, "quantity", 0, throttle.quantity)) {
    return false;
  }
  if (throttle.max_burst == INT64_MAX) {
    context.reply.Error("ERR max_burst is out of range");
    return false;
  }
  if (throttle.period_s > kMaxDurationMs / 1000) {
    context.reply.Error("ERR period is out of range");
    return false;
  }
  rule = ThrottleRule(throttle.max_burst, throttle.count, throttle.period_s * 1000);
  const std::string_view wrong = ValidationError(rule);
  if (wrong.empty()) return true;
  context.reply.Error(rule.limit > rule.refill ? "ERR max_burst is too large for the period"
                                               : "ERR count is too large for the period");
  return false;
}

void ThrottleKey(CommandContext& context) {
  const std::string_view key = context.args[1];
  ThrottleArgs throttle;
  LimitRule rule;
  if (!ParseThrottle(context, throttle, rule)) return;
  ThrottleReply answer;
  const KeyOutcome outcome =
      Limits(PlaceOf(context)).Throttle(key, rule, throttle.quantity, answer);
  if (!CheckOutcome(context, outcome)) return;
  context.reply.Array(5);
  context.reply.Integer(answer.limited ? 1 : 0);
  context.reply.Integer(answer.limit);
  context.reply.Integer(answer.remaining);
  context.reply.Integer(answer.retry_after_s);
  context.reply.Integer(answer.reset_after_s);
  if (!outcome.changed) return;
  ReportChange(context, key, outcome, "limit.take");
  const Int64Text capacity(rule.limit);
  const Int64Text refill(rule.refill);
  const DurationText period(rule.period_ms);
  const Int64Text cost(answer.limited ? 0 : throttle.quantity);
  WordList words = {"LIMIT.TAKE",  key,           "BUCKET", capacity.view(),
                    refill.view(), period.view(), "COST",   cost.view()};
  LogEffect(context, words, EventTime(context));
}

void LimitHelp(CommandContext& context) { ReplyFamilyHelp(context, RuleHelp()); }

constexpr Command kLimitHelp[] = {
    {"help", LimitHelp, 2, kAnyTime, {}, "Says how the commands and rules are used.", "1.0.0"}};

// The names of the reply, and the arguments, of the commands that decide.
constexpr std::string_view kDecision = "allowed limit remaining retry_after_ms reset_after_ms rule";
constexpr std::string_view kPeekArguments =
    "key#0 rule... [AND... more(key:key rule...)] [COST n:int] [AT t:time]";
constexpr std::string_view kTakeArguments =
    "key#0 rule... [AND... more(key:key rule...)] [COST n:int] [ONCE id] [AT t:time]";

constexpr Command kLimitCommands[] = {
    Replying("limited limit remaining retry_after_s reset_after_s",
             {"cl.throttle", ThrottleKey, -5, kStores | kFast, kOneKey,
              "Takes from a token bucket, as redis-cell does.", "1.0.0",
              "key#0 max_burst:int count:int period:int [quantity:int]"}),
    {"limit", nullptr, -2, 0, {}, "Says how LIMIT commands are used.", "1.0.0", "", kLimitHelp},
    Replying(kDecision, {.name = "limit.force",
                         .handler = LimitForce,
                         .arity = -3,
                         .flags = kStores | kFast | kMovableKeys,
                         .keys = kOneKey,
                         .summary = "Takes from every rule of every key even where it is denied.",
                         .since = "1.0.0",
                         .arguments = kTakeArguments,
                         .find_keys = FindLimitKeys}),
    {"limit.give", LimitGive, -2, kWrite | kFast, kOneKey,
     "Gives back what was taken, the newest first.", "1.0.0", "key#0 [n:int] [AT t:time]"},
    Replying(kDecision, {.name = "limit.peek",
                         .handler = LimitPeek,
                         .arity = -3,
                         .flags = kReadOnly | kFast | kMovableKeys,
                         .keys = kOneKey,
                         .summary = "Answers as LIMIT.TAKE would and changes nothing.",
                         .since = "1.0.0",
                         .arguments = kPeekArguments,
                         .find_keys = FindLimitKeys}),
    {"limit.reset", LimitReset, 2, kWrite | kFast, kOneKey, "Forgets what was counted for a key.",
     "1.0.0", "key#0"},
    Replying("[algorithm period used newest_ms ends_ms]",
             {"limit.show", ShowLimitState, 2, kReadOnly | kFast, kOneKey,
              "Returns what is counted for a key, for support.", "1.0.0", "key#0"}),
    Replying(kDecision, {.name = "limit.take",
                         .handler = LimitTake,
                         .arity = -3,
                         .flags = kStores | kFast | kMovableKeys,
                         .keys = kOneKey,
                         .summary = "Takes from every rule of every key, or from none.",
                         .since = "1.0.0",
                         .arguments = kTakeArguments,
                         .find_keys = FindLimitKeys}),
};

}  // namespace

std::span<const Command> LimitCommands() { return kLimitCommands; }

}  // namespace tally::server
