// Instants, durations and counts among the arguments of tallyd's own commands, and in the effects
// that they log. A missing argument is a syntax error; an error about a value names the argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/bytes/number.h"
#include "core/words/option_words.h"
#include "core/words/word_list.h"
#include "server/command/command_context.h"

namespace tally::server {

// The words to read, by default those of the command, and where errors are replied.
struct ArgReader {
  ArgReader(CommandContext& context_in) : ArgReader(context_in, context_in.args) {}
  ArgReader(CommandContext& context_in, Args words)
      : context(context_in), args(words), reply(context_in.reply) {}

  CommandContext& context;
  Args args;
  ReplyBuilder& reply;
};

// Each function reads the argument at `index` and returns false after replying an error.

// An integer of at least `least`.
[[nodiscard]] bool ReadCount(ArgReader in, size_t index, std::string_view name, int64_t least,
                             int64_t& count);
// A duration above 0, in ms.
[[nodiscard]] bool ReadDuration(ArgReader in, size_t index, std::string_view name, int64_t& ms);
// An instant, in unix ms. A bare number means seconds. Above 1e11 it is refused, since milliseconds
// were meant, but in a log it is accepted.
[[nodiscard]] bool ReadInstant(ArgReader in, size_t index, std::string_view name, int64_t& ms);

// Returns the zone of an IANA name, in any case; null after replying an error.
[[nodiscard]] Zone* ReadZone(CommandContext& context, std::string_view name);

// FROM t TO t STEP d, in any order.
struct TimeRange {
  // Reads the arguments from `index` to the end. Returns false after replying an error, also if the
  // range has more than `max_steps` steps.
  [[nodiscard]] bool Read(CommandContext& context, size_t index, size_t max_steps);

  int64_t from_ms = -1;
  int64_t to_ms = -1;
  int64_t step_ms = 0;
};

// When something happens (at), and the clock by which this is judged (now). An AT after now is now:
// a client's fast clock, or a wrong year, opens no window and holds no place.
//
// A logged effect has both: `AT t` and, if the clock showed another instant, `NOW t`. So a replay
// uses the same two instants, however late the log is read.
class EventTime {
 public:
  explicit EventTime(const CommandContext& context)
      : clock_ms_(context.now_ms), replayed_(context.replaying) {}

  // Reads the option at `index`: AT, or in a replay also NOW. Returns false after replying an
  // error, also if another word is there, or an option of the call's `options` again.
  [[nodiscard]] bool ReadOption(CommandContext& context, size_t index, OptionWords& options);

  // For a command that decides: an AT that is older than `max-lateness` becomes that old. A replay
  // has the instant at which this was done already.
  void LimitLateness(const CommandContext& context);

  int64_t now_ms() const { return now_ms_.value_or(replayed_ && at_ms_ ? *at_ms_ : clock_ms_); }
  int64_t at_ms() const {
    // What was logged was judged when it was first done.
    return at_ms_ ? (replayed_ ? *at_ms_ : std::min(*at_ms_, now_ms())) : now_ms();
  }

 private:
  int64_t clock_ms_;
  bool replayed_;
  std::optional<int64_t> at_ms_;
  std::optional<int64_t> now_ms_;
};

// An instant as unix seconds with three decimals, as ReadInstant reads them.
class InstantText {
 public:
  explicit InstantText(int64_t unix_ms);
  std::string_view view() const { return {chars_, length_}; }

 private:
  char chars_[kMaxInt64Chars + 4];
  size_t length_;
};

// A duration as milliseconds with their unit, as ReadDuration reads them.
class DurationText {
 public:
  explicit DurationText(int64_t ms);
  std::string_view view() const { return {chars_, length_}; }

 private:
  char chars_[kMaxInt64Chars + 2];
  size_t length_;
};

// Logs `words` with AT and NOW in place of the command's own words. `words` gets views that are not
// valid after the call.
void LogEffect(CommandContext& context, WordList& words, const EventTime& time);

}  // namespace tally::server
