#include "server/arguments/time_args.h"

#include <algorithm>
#include <string>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/words/word_reader.h"
#include "server/command/engine_call.h"
#include "server/command/usage.h"

namespace tally::server {
bool ReadCount(ArgReader in, size_t index, std::string_view name, int64_t least, int64_t& count) {
  std::string error;
  return WordReader(in.args, OriginOf(in.context), error).Count(index, name, least, count) ||
         ReplyWordError(in.context, error);
}

bool ReadDuration(ArgReader in, size_t index, std::string_view name, int64_t& ms) {
  std::string error;
  return WordReader(in.args, OriginOf(in.context), error).Duration(index, name, ms) ||
         ReplyWordError(in.context, error);
}

bool ReadInstant(ArgReader in, size_t index, std::string_view name, int64_t& ms) {
  std::string error;
  return WordReader(in.args, OriginOf(in.context), error).Instant(index, name, ms) ||
         ReplyWordError(in.context, error);
}

Zone* ReadZone(CommandContext& context, std::string_view name) {
  std::string error;
  const WordReader in({&name, 1}, OriginOf(context), error);
  Zone* zone = in.ZoneAt(0, context.engine().zones());
  if (zone == nullptr) ReplyWordError(context, error);
  return zone;
}

bool TimeRange::Read(CommandContext& context, size_t index, size_t max_steps) {
  OptionWords options;
  for (; index < context.args.size(); index += 2) {
    const std::string_view word = context.args[index];
    bool good = false;
    if (options.Is(word, "from")) {
      good = ReadInstant(context, index + 1, "FROM", from_ms);
    } else if (options.Is(word, "to")) {
      good = ReadInstant(context, index + 1, "TO", to_ms);
    } else if (options.Is(word, "step")) {
      good = ReadDuration(context, index + 1, "STEP", step_ms);
    } else {
      ReplyOptionError(context, options);
    }
    if (!good) return false;
  }
  if (from_ms < 0 || to_ms < 0 || step_ms == 0) {
    ReplySyntaxError(context);
  } else if (to_ms < from_ms) {
    context.reply.Error("ERR TO must not be before FROM");
  } else if ((to_ms - from_ms + step_ms - 1) / step_ms > static_cast<int64_t>(max_steps)) {
    context.reply.Error(
        StrCat("ERR STEP must not cut the range into more than ", max_steps, " steps"));
  } else {
    return true;
  }
  return false;
}

bool EventTime::ReadOption(CommandContext& context, size_t index, OptionWords& options) {
  if (options.Is(context.args[index], "at"))
    return ReadInstant(context, index + 1, "AT", at_ms_.emplace());
  if (replayed_ && options.Is(context.args[index], "now")) {
    return ReadInstant(context, index + 1, "NOW", now_ms_.emplace());
  }
  return ReplyOptionError(context, options);
}

void EventTime::LimitLateness(const CommandContext& context) {
  if (at_ms_ && !replayed_)
    at_ms_ = std::max(*at_ms_, clock_ms_ - context.host.limits.max_lateness_ms);
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

void LogEffect(CommandContext& context, WordList& words, const EventTime& time) {
  const InstantText at(time.at_ms());
  const InstantText now(time.now_ms());
  words.push_back("AT");
  words.push_back(at.view());
  if (time.now_ms() != time.at_ms()) {
    words.push_back("NOW");
    words.push_back(now.view());
  }
  context.LogInstead(Args(words.data(), words.size()));
}

}  // namespace tally::server
