// Instants, durations and counts among the arguments of tallyd's own commands, and in the effects
// that they log. An argument that is missing is a syntax error; errors about a value name it.
#pragma once

#include <absl/container/inlined_vector.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/bytes/number.h"
#include "server/command/command_context.h"

namespace tally::server {

// The words to read, those of the command unless given, and where errors go.
struct ArgReader {
  ArgReader(CommandContext& context_in) : ArgReader(context_in, context_in.args) {}
  ArgReader(CommandContext& context_in, Args words)
      : context(context_in), args(words), reply(context_in.reply) {}

  CommandContext& context;
  Args args;
  ReplyBuilder& reply;
};

// Each reads the argument at `index`; false after replying an error.

// An integer of at least `least`.
[[nodiscard]] bool ReadCount(ArgReader in, size_t index, std::string_view name, int64_t least,
                             int64_t& count);
// A duration above 0, in ms.
[[nodiscard]] bool ReadDuration(ArgReader in, size_t index, std::string_view name, int64_t& ms);
// An instant, in unix ms. A bare number above 1e11 is refused, except in a log: milliseconds were
// meant.
[[nodiscard]] bool ReadInstant(ArgReader in, size_t index, std::string_view name, int64_t& ms);

// The zone of an IANA name in any case, null after replying an error.
[[nodiscard]] Zone* ReadZone(CommandContext& context, std::string_view name);

// FROM t TO t STEP d, in any order.
struct TimeRange {
  // From `index` to the end; false after replying an error, also if there are more than
  // `max_steps`.
  [[nodiscard]] bool Read(CommandContext& context, size_t index, size_t max_steps);

  int64_t from = -1;
  int64_t to = -1;
  int64_t step_ms = 0;
};

// When something happens, and the clock by which that is judged.
//
// In the log an effect says both, as `AT t` and, where the clock showed something else, `NOW t`: so
// that it is judged again as it was, at whatever time the log is read.
class EventTime {
 public:
  explicit EventTime(const CommandContext& context)
      : clock_(context.now), replayed_(context.replaying) {}

  // The option AT, or NOW in a log, at `index`; false after replying an error, which it also does
  // when another word is there.
  [[nodiscard]] bool ReadOption(CommandContext& context, size_t index);

  int64_t now() const { return now_.value_or(replayed_ && at_ ? *at_ : clock_); }
  int64_t at() const { return at_.value_or(now()); }

 private:
  int64_t clock_;
  bool replayed_;
  std::optional<int64_t> at_;
  std::optional<int64_t> now_;
};

// Unix seconds with three decimals, as ReadInstant takes them.
class InstantText {
 public:
  explicit InstantText(int64_t unix_ms);
  std::string_view view() const { return {chars_, length_}; }

 private:
  char chars_[kMaxInt64Chars + 4];
  size_t length_;
};

// Milliseconds with their unit, as ReadDuration takes them.
class DurationText {
 public:
  explicit DurationText(int64_t ms);
  std::string_view view() const { return {chars_, length_}; }

 private:
  char chars_[kMaxInt64Chars + 2];
  size_t length_;
};

using EffectWords = absl::InlinedVector<std::string_view, 16>;

// Logs the words, and when it happened, in place of the command's own.
void LogEffect(CommandContext& context, EffectWords& words, const EventTime& time);

}  // namespace tally::server
