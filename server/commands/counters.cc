// Counters: strings that hold a number. INCREX changes a counter within bounds and sets its
// deadline in one step.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "core/bytes/double_format.h"
#include "core/bytes/number.h"
#include "server/arguments/expiry_args.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/string_value.h"

namespace tally::server {
namespace {

void IncrementBy(CommandContext& context, int64_t delta) {
  const std::string_view key = context.args[1];
  Keyspace::Entry entry = context.FindForWrite(key);
  if (!context.CheckType(entry, Type::kString)) return;
  int64_t value = 0;
  if (entry) {
    const auto old = IntegerOf(entry);
    if (!old) return context.reply.Error(kNotIntegerError);
    value = *old;
  }
  if (__builtin_add_overflow(value, delta, &value)) {
    return context.reply.Error("ERR increment or decrement would overflow");
  }
  if (entry && entry.is_integer()) [[likely]] {
    entry.set_integer(value);
  } else {
    context.keyspace().SetInteger(key, value, Keyspace::kKeepDeadline, context.now_ms);
  }
  context.Changed(kEventString, "incrby", key);
  context.reply.Integer(value);
}

void Incr(CommandContext& context) { IncrementBy(context, 1); }

void Decr(CommandContext& context) { IncrementBy(context, -1); }

void IncrBy(CommandContext& context) {
  if (const auto delta = context.Int64Arg(2)) IncrementBy(context, *delta);
}

void DecrBy(CommandContext& context) {
  const auto delta = context.Int64Arg(2);
  if (!delta) return;
  if (*delta == INT64_MIN) return context.reply.Error("ERR decrement would overflow");
  IncrementBy(context, -*delta);
}

// Returns the number that a key holds as a long double, 0 if the key is absent. Returns nothing
// after replying an error.
std::optional<long double> FloatOf(CommandContext& context, const Keyspace::Entry& entry) {
  if (!entry) return 0.0L;
  const auto value = ParseLongDouble(StringText(entry).view());
  if (!value) context.reply.Error(kNotFloatError);
  return value;
}

void StoreFloat(CommandContext& context, std::string_view key, long double value,
                int64_t deadline_ms, std::string& text) {
  AppendHumanLongDouble(text, value);
  context.keyspace().SetString(key, text, deadline_ms, context.now_ms);
}

void IncrByFloat(CommandContext& context) {
  const std::string_view key = context.args[1];
  const Keyspace::Entry entry = context.FindForWrite(key);
  if (!context.CheckType(entry, Type::kString)) return;
  const auto old = FloatOf(context, entry);
  if (!old) return;
  const auto delta = ParseLongDouble(context.args[2]);
  if (!delta) return context.reply.Error(kNotFloatError);
  const long double value = *old + *delta;
  if (!std::isfinite(value)) {
    return context.reply.Error("ERR increment would produce NaN or Infinity");
  }
  std::string text;
  StoreFloat(context, key, value, Keyspace::kKeepDeadline, text);
  context.Changed(kEventString, "incrbyfloat", key);
  // Logs the result and not the sum, because sums of floats may be rounded differently elsewhere.
  context.LogInstead({"SET", key, text, "KEEPTTL"});
  context.reply.Bulk(text);
}

struct IncrExOptions {
  bool is_float = false;
  size_t by = 0;  // index of the argument; 0: none
  size_t lower = 0;
  size_t upper = 0;
  bool saturate = false;
  bool persist = false;
  bool only_if_undated = false;
  std::optional<int64_t> deadline_ms;
};

// Returns false after replying an error.
bool ParseIncrExOptions(CommandContext& context, IncrExOptions& options) {
  const Args args = context.args;
  for (size_t i = 2; i < args.size(); ++i) {
    const bool has_value = i + 1 < args.size();
    const auto expiry = ParseExpiryWord(args[i]);
    const bool by_float = IsWord(args[i], "byfloat");
    if ((by_float || IsWord(args[i], "byint")) && options.by == 0 && has_value) {
      options.is_float = by_float;
      options.by = ++i;
    } else if (IsWord(args[i], "lbound") && options.lower == 0 && has_value) {
      options.lower = ++i;
    } else if (IsWord(args[i], "ubound") && options.upper == 0 && has_value) {
      options.upper = ++i;
    } else if (IsWord(args[i], "saturate") && !options.saturate) {
      options.saturate = true;
    } else if (IsWord(args[i], "enx") && !options.only_if_undated) {
      options.only_if_undated = true;
    } else if (IsWord(args[i], "persist") && !options.persist && !options.deadline_ms) {
      options.persist = true;
    } else if (expiry && !options.deadline_ms && !options.persist && has_value) {
      options.deadline_ms = DeadlineArg(context, ++i, *expiry);
      if (!options.deadline_ms) return false;
    } else {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  if (options.only_if_undated && !options.deadline_ms) {
    context.reply.Error(kSyntaxError);
    return false;
  }
  return true;
}

// The deadline that the key gets, or kKeepDeadline.
int64_t IncrExDeadline(const IncrExOptions& options, const Keyspace::Entry& entry) {
  if (options.persist) return kNoDeadline;
  const bool dated = entry && entry.deadline_ms() != kNoDeadline;
  if (!options.deadline_ms || (options.only_if_undated && dated)) return Keyspace::kKeepDeadline;
  return *options.deadline_ms;
}

void FinishIncrEx(CommandContext& context, std::string_view text, int64_t deadline_ms) {
  const std::string_view key = context.args[1];
  context.Changed(kEventString, "incrby", key);
  if (deadline_ms == Keyspace::kKeepDeadline) {
    return context.LogInstead({"SET", key, text, "KEEPTTL"});
  }
  if (deadline_ms == kNoDeadline) return context.LogInstead({"SET", key, text});
  context.Changed(kEventGeneric, "expire", key);
  const Int64Text at(deadline_ms);
  context.LogInstead({"SET", key, text, "PXAT", at.view()});
}

void IncrExInteger(CommandContext& context, const IncrExOptions& options) {
  const std::string_view key = context.args[1];
  const auto bound = [&](size_t index, int64_t missing) {
    return index == 0 ? std::optional<int64_t>(missing) : context.Int64Arg(index);
  };
  const auto by = bound(options.by, 1);
  if (!by) return;
  const auto lower = bound(options.lower, INT64_MIN);
  if (!lower) return;
  const auto upper = bound(options.upper, INT64_MAX);
  if (!upper) return;
  if (*lower > *upper) return context.reply.Error("ERR LBOUND can't be greater than UBOUND");

  const Keyspace::Entry entry = context.FindForWrite(key);
  if (!context.CheckType(entry, Type::kString)) return;
  const auto old = entry ? IntegerOf(entry) : std::optional<int64_t>(0);
  if (!old) return context.reply.Error(kNotIntegerError);
  int64_t value = 0;
  const bool overflow = __builtin_add_overflow(*old, *by, &value);
  const bool outside = overflow || value < *lower || value > *upper;
  context.reply.Array(2);
  if (outside && !options.saturate) {
    context.reply.Integer(*old);
    return context.reply.Integer(0);
  }
  if (overflow) value = *by > 0 ? INT64_MAX : INT64_MIN;
  value = std::clamp(value, *lower, *upper);
  int64_t applied = 0;
  if (__builtin_sub_overflow(value, *old, &applied)) applied = value > 0 ? INT64_MAX : INT64_MIN;
  const int64_t deadline_ms = IncrExDeadline(options, entry);
  context.keyspace().SetInteger(key, value, deadline_ms, context.now_ms);
  FinishIncrEx(context, Int64Text(value).view(), deadline_ms);
  context.reply.Integer(value);
  context.reply.Integer(applied);
}

void IncrExFloat(CommandContext& context, const IncrExOptions& options) {
  const std::string_view key = context.args[1];
  constexpr long double kInfinity = std::numeric_limits<long double>::infinity();
  const auto number = [&](size_t index, long double missing) {
    const auto value = index == 0 ? missing : ParseLongDouble(context.args[index]);
    if (!value || std::isnan(*value)) context.reply.Error(kNotFloatError);
    return value;
  };
  const auto by = number(options.by, 1);
  if (!by) return;
  const auto lower = number(options.lower, -kInfinity);
  if (!lower) return;
  const auto upper = number(options.upper, kInfinity);
  if (!upper) return;
  if (*lower > *upper) return context.reply.Error("ERR LBOUND can't be greater than UBOUND");

  const Keyspace::Entry entry = context.FindForWrite(key);
  if (!context.CheckType(entry, Type::kString)) return;
  const auto old = FloatOf(context, entry);
  if (!old) return;
  long double value = *old + *by;
  std::string text;
  std::string applied;
  if ((value < *lower || value > *upper) && !options.saturate) {
    AppendHumanLongDouble(text, *old);
    applied = "0";
  } else {
    value = std::clamp(value, *lower, *upper);
    if (!std::isfinite(value)) {
      return context.reply.Error("ERR increment would produce NaN or Infinity");
    }
    const int64_t deadline_ms = IncrExDeadline(options, entry);
    StoreFloat(context, key, value, deadline_ms, text);
    AppendHumanLongDouble(applied, value - *old);
    FinishIncrEx(context, text, deadline_ms);
  }
  context.reply.Array(2);
  context.reply.Bulk(text);
  context.reply.Bulk(applied);
}

void IncrEx(CommandContext& context) {
  IncrExOptions options;
  if (!ParseIncrExOptions(context, options)) return;
  if (options.is_float) {
    IncrExFloat(context, options);
  } else {
    IncrExInteger(context, options);
  }
}

constexpr uint32_t kCount = kStores | kFast;

constexpr Command kCounterCommands[] = {
    {"decr", Decr, 2, kCount, kOneKey, "Decrements the integer value of a key by one.", "1.0.0",
     "key#0"},
    {"decrby", DecrBy, 3, kCount, kOneKey, "Decrements a number from the integer value of a key.",
     "1.0.0", "key#0 decrement:int"},
    {"incr", Incr, 2, kCount, kOneKey, "Increments the integer value of a key by one.", "1.0.0",
     "key#0"},
    {"incrby", IncrBy, 3, kCount, kOneKey, "Increments the integer value of a key by a number.",
     "1.0.0", "key#0 increment:int"},
    {"incrbyfloat", IncrByFloat, 3, kCount, kOneKey,
     "Increments the floating point value of a key by a number.", "2.6.0",
     "key#0 increment:double"},
    Replying(
        "value applied",
        {"increx", IncrEx, -2, kCount, kOneKey,
         "Increments a bounded number and sets its expiration in one step.", "8.8.0",
         "key#0 [increment<BYINT integer:int|BYFLOAT float:double>] [LBOUND lower-bound:double] "
         "[UBOUND upper-bound:double] [SATURATE] [expiration<EX seconds:int|PX "
         "milliseconds:int|EXAT "
         "unix-time-seconds:time|PXAT unix-time-milliseconds:time|PERSIST>] [ENX]"}),
};

}  // namespace

std::span<const Command> CounterCommands() { return kCounterCommands; }

}  // namespace tally::server
