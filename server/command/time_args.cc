#include "server/command/time_args.h"

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/time/duration.h"
#include "server/command/usage.h"

namespace tally::server {
namespace {

bool IsThere(ArgReader in, size_t index) {
  if (index < in.args.size()) return true;
  ReplySyntaxError(in.context);
  return false;
}

}  // namespace

bool ReadCount(ArgReader in, size_t index, std::string_view name, int64_t least, int64_t& count) {
  if (!IsThere(in, index)) return false;
  const auto value = ParseInt64(in.args[index]);
  if (!value || *value < least) {
    in.reply.Error(StrCat("ERR ", name, " must be an integer of at least ", least));
    return false;
  }
  count = *value;
  return true;
}

bool ReadDuration(ArgReader in, size_t index, std::string_view name, int64_t& ms) {
  if (!IsThere(in, index)) return false;
  const auto value = ParseDuration(in.args[index]);
  if (!value || *value == 0) {
    in.reply.Error(
        StrCat("ERR ", name, " must be a duration above 0, as 500ms, 5s, 10m, 24h or 7d"));
    return false;
  }
  ms = *value;
  return true;
}

bool ReadInstant(ArgReader in, size_t index, std::string_view name, int64_t& ms) {
  if (!IsThere(in, index)) return false;
  const std::string_view text = in.args[index];
  const auto likely_ms = in.context.replaying ? std::nullopt : ParseLikelyMilliseconds(text);
  if (likely_ms) {
    in.reply.Error(StrCat("ERR ", name, " ", text.substr(0, 64), " looks like milliseconds: write ",
                          *likely_ms, "ms"));
    return false;
  }
  const auto value = ParseInstant(text);
  if (!value) {
    in.reply.Error(StrCat("ERR ", name,
                          " must be unix seconds, with or without a fraction, or milliseconds "
                          "as 1795230400123ms"));
    return false;
  }
  ms = *value;
  return true;
}

Zone* ReadZone(CommandContext& context, std::string_view name) {
  ZoneSource& zones = context.engine().zones();
  // What was logged where tzdata had the zone is kept where it has not.
  Zone* zone = context.replaying ? zones.FindStored(name) : zones.Find(name);
  if (zone == nullptr) {
    context.reply.Error(StrCat("ERR TZ must be an IANA time zone that this system knows, not '",
                               name.substr(0, 64), "'"));
  }
  return zone;
}

bool TimeRange::Read(CommandContext& context, size_t index, size_t max_steps) {
  for (; index < context.args.size(); index += 2) {
    const std::string_view word = context.args[index];
    bool good = false;
    if (IsWord(word, "from")) {
      good = ReadInstant(context, index + 1, "FROM", from);
    } else if (IsWord(word, "to")) {
      good = ReadInstant(context, index + 1, "TO", to);
    } else if (IsWord(word, "step")) {
      good = ReadDuration(context, index + 1, "STEP", step_ms);
    } else {
      ReplySyntaxError(context);
    }
    if (!good) return false;
  }
  if (from < 0 || to < 0 || step_ms == 0) {
    ReplySyntaxError(context);
  } else if (to < from) {
    context.reply.Error("ERR TO must not be before FROM");
  } else if ((to - from + step_ms - 1) / step_ms > static_cast<int64_t>(max_steps)) {
    context.reply.Error(
        StrCat("ERR STEP must not cut the range into more than ", max_steps, " steps"));
  } else {
    return true;
  }
  return false;
}

bool EventTime::ReadOption(CommandContext& context, size_t index) {
  if (IsWord(context.args[index], "at"))
    return ReadInstant(context, index + 1, "AT", at_.emplace());
  if (replayed_ && IsWord(context.args[index], "now")) {
    return ReadInstant(context, index + 1, "NOW", now_.emplace());
  }
  ReplySyntaxError(context);
  return false;
}

InstantText::InstantText(int64_t unix_ms) {
  char* end = WriteInt64(chars_, unix_ms / 1000);
  const auto fraction = static_cast<int>(unix_ms % 1000);
  *end++ = '.';
  *end++ = static_cast<char>('0' + fraction / 100);
  *end++ = static_cast<char>('0' + fraction / 10 % 10);
  *end++ = static_cast<char>('0' + fraction % 10);
  length_ = static_cast<size_t>(end - chars_);
}

DurationText::DurationText(int64_t ms) {
  char* end = WriteInt64(chars_, ms);
  *end++ = 'm';
  *end++ = 's';
  length_ = static_cast<size_t>(end - chars_);
}

void LogEffect(CommandContext& context, EffectWords& words, const EventTime& time) {
  const InstantText at(time.at());
  const InstantText now(time.now());
  words.insert(words.end(), {"AT", at.view()});
  if (time.now() != time.at()) words.insert(words.end(), {"NOW", now.view()});
  context.LogInstead(Args(words.data(), words.size()));
}

}  // namespace tally::server
