// HITS: how often something has happened in a sliding window, exact.
//
// A log is read at any later time, so what is logged says when it happened and by which clock that
// was judged (see EventTime), with options resolved:
//   HITS.ADD key window COUNT n AT t [NOW t]   without CAP: what was denied is not logged
//   HITS.UNDO key n AT t                       t is the clock alone
#include "core/hits/hits.h"

#include <string_view>
#include <vector>

#include "core/bytes/number.h"
#include "server/command/command_context.h"
#include "server/command/compact_value.h"
#include "server/command/help.h"
#include "server/command/time_args.h"
#include "server/command/usage.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

struct AddArgs {
  explicit AddArgs(const CommandContext& context) : time(context) {}

  int64_t window_ms = 0;
  int64_t count = 1;
  int64_t cap = Hits::kNoCap;
  EventTime time;
};

// Replies the error and returns false.
bool ParseAdd(CommandContext& context, AddArgs& add) {
  const Args args = context.args;
  if (!ReadDuration(context, 2, "window", add.window_ms)) return false;
  for (size_t i = 3; i < args.size(); i += 2) {
    bool good = false;
    if (IsWord(args[i], "count")) {
      good = ReadCount(context, i + 1, "COUNT", 0, add.count);
    } else if (IsWord(args[i], "cap")) {
      good = ReadCount(context, i + 1, "CAP", 0, add.cap);
    } else {
      good = add.time.ReadOption(context, i);
    }
    if (!good) return false;
  }
  return true;
}

void LogAdd(CommandContext& context, const AddArgs& add) {
  // Nothing to write: spare the formatting too.
  if (!context.host.effects.enabled()) return context.LogNothing();
  const DurationText window(add.window_ms);
  const Int64Text count(add.count);
  EffectWords words = {"HITS.ADD", context.args[1], window.view(), "COUNT", count.view()};
  LogEffect(context, words, add.time);
}

void Add(CommandContext& context) {
  const std::string_view key = context.args[1];
  AddArgs add(context);
  if (!ParseAdd(context, add)) return;
  CompactValue<Hits> hits(context.host.scratch.hits);
  if (!hits.Write(context, key)) return;
  const int64_t now = add.time.now();
  const auto in_window = hits->Add(add.count, add.window_ms, add.time.at(), now, add.cap);
  if (!in_window) return context.reply.Null();
  context.reply.Integer(*in_window);
  const bool kept = add.count > 0 && add.time.at() > now - hits->window_ms();
  if (!kept) return;
  hits.Store(context, key);
  context.Changed(kEventModule, "hits.add", key);
  LogAdd(context, add);
}

void Count(CommandContext& context) {
  CompactValue<Hits> hits(context.host.scratch.hits);
  EventTime time(context);
  int64_t window_ms = 0;
  for (size_t i = 2; i < context.args.size(); i += 2) {
    const bool good = IsWord(context.args[i], "window")
                          ? ReadDuration(context, i + 1, "WINDOW", window_ms)
                          : time.ReadOption(context, i);
    if (!good) return;
  }
  if (!hits.Read(context, context.args[1])) return;
  if (window_ms == 0) window_ms = hits->window_ms();
  context.reply.Integer(hits->Count(window_ms, time.at(), time.now()));
}

void Undo(CommandContext& context) {
  const std::string_view key = context.args[1];
  EventTime time(context);
  int64_t count = 1;
  if (context.args.size() > 2 && !ReadCount(context, 2, "n", 0, count)) return;
  // AT stands here in a log only: which hits are the newest does not depend on the time.
  if (context.args.size() > 3) {
    if (!context.replaying) return ReplySyntaxError(context);
    if (!time.ReadOption(context, 3)) return;
  }
  CompactValue<Hits> hits(context.host.scratch.hits);
  if (!hits.Write(context, key)) return;
  context.reply.Integer(hits->Undo(count, time.now()));
  if (!hits.exists() || count == 0) return;
  context.Changed(kEventModule, "hits.undo", key);
  hits.Store(context, key);
  const Int64Text text(count);
  EffectWords words = {"HITS.UNDO", key, text.view()};
  LogEffect(context, words, time);
}

void Range(CommandContext& context) {
  TimeRange range;
  if (!range.Read(context, 2, Hits::kMaxRangeSteps)) return;
  CompactValue<Hits> hits(context.host.scratch.hits);
  if (!hits.Read(context, context.args[1])) return;
  const std::vector<int64_t> steps = hits->Range(range.from, range.to, range.step_ms, context.now);
  context.reply.Array(steps.size());
  for (const int64_t count : steps) context.reply.Integer(count);
}

constexpr KeyRange kOneKey{1, 1, 1};

constexpr Command kCommands[] = {
    {"hits", nullptr, -2, 0, {}, "Says how HITS commands are used.", "0.1.0", "", kFamilyHelp},
    {"hits.add", Add, -3, kWrite | kDenyOom | kFast, kOneKey,
     "Counts a hit and returns the hits in the window with it.", "0.1.0",
     "key#0 window [COUNT n:int] [AT t:time] [CAP max:int]"},
    {"hits.count", Count, -2, kReadOnly | kFast, kOneKey, "Returns the hits in a window.", "0.1.0",
     "key#0 [WINDOW window] [AT t:time]"},
    {"hits.range", Range, 8, kReadOnly, kOneKey,
     "Returns the hits of each step of a range of time.", "0.1.0",
     "key#0 FROM t:time TO t:time STEP d"},
    {"hits.undo", Undo, -2, kWrite | kFast, kOneKey,
     "Takes the newest hits back and returns the hits that are left.", "0.1.0", "key#0 [n:int]"},
};

}  // namespace

std::span<const Command> HitsCommands() { return kCommands; }

}  // namespace tally::server
