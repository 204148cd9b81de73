// HITS: exact counts of how often something has happened in a sliding window.
//
// A log may be read at any later time. So the logged calls say when something happened and by which
// clock this was judged (see EventTime), and have the values of all options:
//   HITS.ADD key window COUNT n [CAP max] AT t [NOW t]
//       A replay does not ask the cap again. A COUNT of 0 says that hits after NOW were made hits
//       of NOW, because the server's clock was set back.
//   HITS.UNDO key n AT t                       t is what the clock showed
#include <optional>
#include <string_view>
#include <vector>

#include "core/bytes/number.h"
#include "core/engine/hit_counters.h"
#include "server/arguments/time_args.h"
#include "server/command/command_context.h"
#include "server/command/engine_call.h"
#include "server/command/help.h"
#include "server/command/usage.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

struct AddArgs {
  explicit AddArgs(const CommandContext& context) : time(context) {}

  int64_t window_ms = 0;
  int64_t count = 1;
  std::optional<int64_t> cap;
  EventTime time;
};

// Returns false after replying an error.
bool ParseAdd(CommandContext& context, AddArgs& add) {
  const Args args = context.args;
  if (!ReadDuration(context, 2, "window", add.window_ms)) return false;
  OptionWords options;
  for (size_t i = 3; i < args.size(); i += 2) {
    bool good = false;
    if (options.Is(args[i], "count")) {
      good = ReadCount(context, i + 1, "COUNT", 0, add.count);
    } else if (options.Is(args[i], "cap")) {
      good = ReadCount(context, i + 1, "CAP", 0, add.cap.emplace());
    } else {
      good = add.time.ReadOption(context, i, options);
    }
    if (!good) return false;
  }
  if (add.cap) add.time.LimitLateness(context);
  return true;
}

void LogAdd(CommandContext& context, const AddArgs& add, int64_t added) {
  if (context.LogsNowhere()) return;
  const DurationText window(add.window_ms);
  const Int64Text count(added);
  const Int64Text cap(add.cap.value_or(0));
  WordList words = {"HITS.ADD", context.args[1], window.view(), "COUNT", count.view()};
  if (add.cap) {
    words.push_back("CAP");
    words.push_back(cap.view());
  }
  LogEffect(context, words, add.time);
}

void HitsAdd(CommandContext& context) {
  const std::string_view key = context.args[1];
  AddArgs add(context);
  if (!ParseAdd(context, add)) return;
  const HitCounters::Addition addition = {
      .window_ms = add.window_ms,
      .count = add.count,
      .cap = add.cap && context.replaying ? Hits::kNoCap : add.cap,
      .time = {add.time.at_ms(), add.time.now_ms()}};
  std::optional<int64_t> in_window;
  const HitCounters::Added outcome = HitCounters(PlaceOf(context)).Add(key, addition, in_window);
  if (!CheckOutcome(context, outcome)) return;
  if (in_window) {
    context.reply.Integer(*in_window);
  } else {
    context.reply.Null();
  }
  if (!outcome.changed) return;
  ReportChange(context, key, outcome, "hits.add");
  LogAdd(context, add, outcome.set_back ? 0 : add.count);
}

void HitsCount(CommandContext& context) {
  EventTime time(context);
  int64_t window_ms = 0;
  OptionWords options;
  for (size_t i = 2; i < context.args.size(); i += 2) {
    const bool good = options.Is(context.args[i], "window")
                          ? ReadDuration(context, i + 1, "WINDOW", window_ms)
                          : time.ReadOption(context, i, options);
    if (!good) return;
  }
  int64_t hits = 0;
  const KeyOutcome outcome =
      HitCounters(PlaceOf(context))
          .Count(context.args[1], window_ms, {time.at_ms(), time.now_ms()}, hits);
  context.NoteLookup(context.args[1], outcome.found);
  if (CheckOutcome(context, outcome)) context.reply.Integer(hits);
}

void HitsUndo(CommandContext& context) {
  const std::string_view key = context.args[1];
  EventTime time(context);
  int64_t count = 1;
  if (context.args.size() > 2 && !ReadCount(context, 2, "n", 0, count)) return;
  // AT is accepted only in a log, because which hits are the newest does not depend on the time.
  if (context.args.size() > 3) {
    if (!context.replaying) return ReplySyntaxError(context);
    OptionWords options;
    if (!time.ReadOption(context, 3, options)) return;
  }
  int64_t left = 0;
  const KeyOutcome outcome = HitCounters(PlaceOf(context)).Undo(key, count, time.now_ms(), left);
  if (!CheckOutcome(context, outcome)) return;
  context.reply.Integer(left);
  if (!outcome.changed) return;
  ReportChange(context, key, outcome, "hits.undo");
  const Int64Text text(count);
  WordList words = {"HITS.UNDO", key, text.view()};
  LogEffect(context, words, time);
}

void HitsRange(CommandContext& context) {
  TimeRange range;
  if (!range.Read(context, 2, Hits::kMaxRangeSteps)) return;
  std::vector<int64_t> steps;
  const KeyOutcome outcome =
      HitCounters(PlaceOf(context))
          .Range(context.args[1], range.from_ms, range.to_ms, range.step_ms, steps);
  context.NoteLookup(context.args[1], outcome.found);
  if (!CheckOutcome(context, outcome)) return;
  context.reply.Array(steps.size());
  for (const int64_t count : steps) context.reply.Integer(count);
}

void HitsShow(CommandContext& context) {
  HitsShown shown;
  const KeyOutcome outcome = HitCounters(PlaceOf(context)).Show(context.args[1], shown);
  context.NoteLookup(context.args[1], outcome.found);
  if (!CheckOutcome(context, outcome)) return;
  if (!outcome.found) return context.reply.NullArray();
  context.reply.Array(4);
  context.reply.Integer(shown.window_ms);
  context.reply.Integer(shown.hits);
  context.reply.Integer(shown.newest_ms);
  context.reply.Integer(shown.ends_ms);
}

constexpr Command kHitsCommands[] = {
    {"hits", nullptr, -2, 0, {}, "Says how HITS commands are used.", "1.0.0", "", kFamilyHelp},
    {"hits.add", HitsAdd, -3, kStores | kFast, kOneKey,
     "Counts a hit and returns the hits in the window with it.", "1.0.0",
     "key#0 window [COUNT n:int] [AT t:time] [CAP max:int]"},
    {"hits.count", HitsCount, -2, kReadOnly | kFast, kOneKey, "Returns the hits in a window.",
     "1.0.0", "key#0 [WINDOW window] [AT t:time]"},
    {"hits.range", HitsRange, 8, kReadOnly, kOneKey,
     "Returns the hits of each step of a range of time.", "1.0.0",
     "key#0 FROM t:time TO t:time STEP d"},
    Replying("window_ms hits newest_ms ends_ms",
             {"hits.show", HitsShow, 2, kReadOnly | kFast, kOneKey,
              "Returns how long hits are kept, how many there are, the newest and the end.",
              "1.0.0", "key#0"}),
    {"hits.undo", HitsUndo, -2, kWrite | kFast, kOneKey,
     "Takes the newest hits back and returns the hits that are left.", "1.0.0", "key#0 [n:int]"},
};

}  // namespace

std::span<const Command> HitsCommands() { return kHitsCommands; }

}  // namespace tally::server
