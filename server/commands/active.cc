// ACTIVE: who is online, the peaks, and the new and active users of each day. All numbers are
// exact.
//
// A log may be read at any later time. So the logged calls have every option, and say when
// something happened and by which clock this was judged (see EventTime):
//   ACTIVE.CREATE key WINDOW d TZ zone KEEP d
//   ACTIVE.TOUCH key [id …] AT t [NOW t [FORGET t]]
//   ACTIVE.FORGET key id …
//   ACTIVE.ALTER key [WINDOW d] [KEEP d] NOW t [FORGET t]
// A TOUCH without ids sets back what lies after t (see AheadWalk). FORGET follows if old days were
// deleted by another instant than NOW (see Place::forget_at_ms). Only a log has options after the
// ids; there AT always follows them. The first TOUCH creates the key with the default options, in a
// replay too.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "core/engine/audiences.h"
#include "core/time/duration.h"
#include "server/arguments/time_args.h"
#include "server/command/engine_call.h"
#include "server/command/help.h"
#include "server/command/usage.h"
#include "server/commands/active_args.h"
#include "server/commands/families.h"

namespace tally::server {
namespace {

void ReplyMissingZone(CommandContext& context, const ActiveSet& set) {
  context.reply.Error(StrCat("ERR the time zone '", set.options().zone.name(),
                             "' of this key is not in the tzdata of this machine"));
}

// Whether the zone of the set is known, without which its days cannot be distinguished. Returns
// false after replying an error; always true in a replay.
bool CheckZone(CommandContext& context, const ActiveSet* set) {
  if (set == nullptr || !set->options().zone.is_missing() || context.replaying) return true;
  ReplyMissingZone(context, *set);
  return false;
}

void ActiveCreate(CommandContext& context) {
  const std::string_view key = context.args[1];
  ActiveOptions options;
  if (!ReadActiveOptions(context, options)) return;
  const DurationText window(options.window_ms);
  const DurationText keep(options.keep_ms);
  const std::string zone = options.zone.name();
  const KeyOutcome outcome = Audiences(PlaceOf(context)).Create(key, std::move(options));
  if (!CheckOutcome(context, outcome)) return;
  if (outcome.found) return context.reply.Error("ERR key exists already");
  context.LogInstead(
      {"ACTIVE.CREATE", key, "WINDOW", window.view(), "TZ", zone, "KEEP", keep.view()});
  ReportChange(context, key, outcome, "active.create");
  context.reply.Ok();
}

void LogAlter(CommandContext& context, const Audiences::Change& change) {
  const DurationText window(change.window_ms.value_or(0));
  const DurationText keep(change.keep_ms.value_or(0));
  const InstantText now(change.judged_at_ms);
  const InstantText forget(change.forget_at_ms);
  WordList words = {"ACTIVE.ALTER", context.args[1]};
  if (change.window_ms) AppendWords(words, {{"WINDOW", window.view()}});
  if (change.keep_ms) AppendWords(words, {{"KEEP", keep.view()}});
  AppendWords(words, {{"NOW", now.view()}});
  if (change.forget_at_ms != change.judged_at_ms) AppendWords(words, {{"FORGET", forget.view()}});
  context.LogInstead(Args(words));
}

void ActiveAlter(CommandContext& context) {
  const std::string_view key = context.args[1];
  Audiences::Change change{.judged_at_ms = context.now_ms,
                           .forget_at_ms = PlaceOf(context).forget_at_ms()};
  if (!ReadActiveChange(context, change)) return;
  if (!change.window_ms && !change.keep_ms) {
    return ReplySyntaxError(context, "WINDOW or KEEP is missing");
  }
  const Audiences::Altered altered = Audiences(PlaceOf(context)).Alter(key, change);
  if (!CheckOutcome(context, altered)) return;
  if (!altered.found) return context.reply.Error("ERR no such key");
  if (altered.missing_zone) {
    return ReplyMissingZone(context, context.FindForWrite(key).heap<ActiveSet>());
  }
  ReportChange(context, key, altered, "active.alter");
  LogAlter(context, change);
  context.reply.Ok();
}

void LogTouch(CommandContext& context, const ActiveTouchArgs& touch) {
  if (context.LogsNowhere()) return;
  const InstantText at(touch.time.at_ms);
  const InstantText now(touch.time.judged_at_ms);
  const InstantText forget(touch.forget_at_ms);
  WordList words = {"ACTIVE.TOUCH", context.args[1]};
  AppendWords(words, touch.ids);
  AppendWords(words, {{"AT", at.view()}});
  const bool held = touch.forget_at_ms != touch.time.judged_at_ms;
  if (held || touch.time.judged_at_ms != touch.time.at_ms)
    AppendWords(words, {{"NOW", now.view()}});
  if (held) AppendWords(words, {{"FORGET", forget.view()}});
  context.LogInstead(Args(words));
}

void TouchIds(CommandContext& context, const ActiveTouchArgs& touch) {
  const std::string_view key = context.args[1];
  if (!CheckActiveIds(context, touch.ids)) return;
  Audiences audiences(PlaceOf(context));
  const Audiences::Touched touched =
      audiences.Touch(key, touch.ids, touch.time, touch.forget_at_ms);
  if (!CheckOutcome(context, touched)) return;
  if (touched.refusal == Audiences::Refusal::kMissingZone) {
    return ReplyMissingZone(context, context.FindForWrite(key).heap<ActiveSet>());
  }
  if (touched.refusal == Audiences::Refusal::kNoNumbers) {
    return context.reply.Error("ERR key has given all its numbers");
  }
  context.reply.Integer(touched.online);
  ReportChange(context, key, touched, "active.touch");
  LogTouch(context, touch);
}

void ActiveTouch(CommandContext& context) {
  ActiveTouchArgs touch{context.args.subspan(2), EventInstants::Now(context.now_ms),
                        PlaceOf(context).forget_at_ms()};
  if (context.replaying && !ReadLoggedTouch(context, touch)) return;
  TouchIds(context, touch);
}

void ActiveTouchAt(CommandContext& context) {
  ActiveTouchArgs touch{context.args.subspan(3), EventInstants::Now(context.now_ms),
                        PlaceOf(context).forget_at_ms()};
  int64_t at_ms = 0;
  if (!ReadInstant(context, 2, "t", at_ms)) return;
  // An instant after now is now, as AT of other commands.
  touch.time.at_ms = std::min(at_ms, context.now_ms);
  TouchIds(context, touch);
}

void ActiveForget(CommandContext& context) {
  const std::string_view key = context.args[1];
  int64_t forgotten = 0;
  const KeyOutcome outcome =
      Audiences(PlaceOf(context)).Forget(key, context.args.subspan(2), forgotten);
  if (!CheckOutcome(context, outcome)) return;
  ReportChange(context, key, outcome, "active.forget");
  context.reply.Integer(forgotten);
}

void ActiveOnline(CommandContext& context) {
  EventTime time(context);
  OptionWords options;
  for (size_t i = 2; i < context.args.size(); i += 2) {
    if (!time.ReadOption(context, i, options)) return;
  }
  ActiveSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  context.reply.Integer(set == nullptr ? 0 : set->Online(time.at_ms()));
}

void ActiveSeen(CommandContext& context) {
  ActiveSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  const auto seen = set == nullptr ? std::nullopt : set->Seen(context.args[2], context.now_ms);
  if (!seen) return context.reply.NullArray();
  context.reply.Array(4);
  context.reply.Integer(seen->number);
  context.reply.Integer(seen->last_seen_ms);
  context.reply.Integer(seen->first_seen_ms);
  context.reply.Integer(set->IsOnline(*seen, context.now_ms) ? 1 : 0);
}

void ActiveShow(CommandContext& context) {
  ActiveSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  if (set == nullptr) return context.reply.NullArray();
  const ActiveOptions& options = set->options();
  context.reply.Array(5);
  context.reply.Integer(options.window_ms);
  context.reply.Bulk(options.zone.name());
  context.reply.Integer(options.keep_ms);
  context.reply.Integer(set->size());
  context.reply.Integer(set->Online(context.now_ms));
}

// Returns the day that the arguments name, otherwise today in the set's zone, or in UTC without a
// set.
int32_t DayNumber(const CommandContext& context, ActiveSet* set, const ActiveDayArgs& days) {
  if (days.day) return *days.day;
  return set != nullptr ? set->DayNumber(context.now_ms)
                        : static_cast<int32_t>(context.now_ms / kDayMs);
}

void ActivePeak(CommandContext& context) {
  ActiveDayArgs days;
  if (!ReadActiveDays(context, false, days)) return;
  ActiveSet* set = nullptr;
  if (!context.Read(context.args[1], set) || !CheckZone(context, set)) return;
  ActiveSet::DayFigures figures;
  if (set != nullptr) figures = set->DayOf(DayNumber(context, set, days), context.now_ms);
  context.reply.IntegerPair(figures.peak, figures.peak_at_ms);
}

void ActiveDay(CommandContext& context) {
  ActiveDayArgs days;
  if (!ReadActiveDays(context, true, days)) return;
  ActiveSet* set = nullptr;
  if (!context.Read(context.args[1], set) || !CheckZone(context, set)) return;
  const int32_t last = DayNumber(context, set, days);
  int32_t day = last - static_cast<int32_t>(days.days) + 1;
  std::vector<ActiveSet::DayFigures> shown(static_cast<size_t>(days.days));
  if (set != nullptr) shown = set->Days(day, last, context.now_ms);
  context.reply.Array(shown.size());
  for (const ActiveSet::DayFigures& figures : shown) {
    context.reply.Array(5);
    context.reply.Bulk(FormatDate(day++));
    context.reply.Integer(static_cast<int64_t>(figures.active));
    context.reply.Integer(figures.fresh);
    context.reply.Integer(figures.peak);
    context.reply.Integer(figures.peak_at_ms);
  }
}

void ActiveUsers(CommandContext& context) {
  std::optional<int32_t> from;
  std::optional<int32_t> to;
  OptionWords options;
  for (size_t i = 2; i < context.args.size(); i += 2) {
    const bool is_from = options.Is(context.args[i], "from");
    if (!is_from && !options.Is(context.args[i], "to")) {
      ReplyOptionError(context, options);
      return;
    }
    if (!ReadActiveDate(context, i + 1, is_from ? "FROM" : "TO", is_from ? from : to)) return;
  }
  if (!from || !to) return ReplySyntaxError(context);
  if (*to < *from) return context.reply.Error("ERR TO must not be before FROM");
  ActiveSet* set = nullptr;
  if (!context.Read(context.args[1], set) || !CheckZone(context, set)) return;
  context.reply.Integer(
      set == nullptr ? 0 : static_cast<int64_t>(set->UsersBetween(*from, *to, context.now_ms)));
}

void ActiveSeries(CommandContext& context) {
  TimeRange range;
  if (!range.Read(context, 2, ActiveSet::kMaxSeriesSteps)) return;
  if (range.step_ms % ActiveSet::kMinuteMs != 0) {
    return context.reply.Error("ERR STEP must be whole minutes");
  }
  ActiveSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  if (set == nullptr) return context.reply.Array(0);
  const auto series = set->Series(range.from_ms, range.to_ms, range.step_ms, context.now_ms);
  context.reply.Array(series.size());
  for (const auto& [at_ms, online] : series) {
    context.reply.Array(2);
    context.reply.Integer(at_ms);
    context.reply.Integer(online);
  }
}

void ActiveScan(CommandContext& context) {
  ActiveScanArgs scan;
  if (!ReadActiveScan(context, scan)) return;
  ActiveSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  std::vector<std::string_view> ids;
  uint64_t next = 0;
  if (set != nullptr) {
    next = set->Scan(scan.cursor, static_cast<size_t>(scan.count),
                     [&](std::string_view id, const ActiveSet::Sighting& sighting) {
                       if (!scan.online || set->IsOnline(sighting, context.now_ms))
                         ids.push_back(id);
                     });
  }
  context.reply.Array(2);
  context.reply.BulkInteger(static_cast<int64_t>(next));
  context.reply.Array(ids.size());
  for (const std::string_view id : ids) context.reply.Bulk(id);
}

constexpr Command kActiveCommands[] = {
    {"active", nullptr, -2, 0, {}, "Says how ACTIVE commands are used.", "1.0.0", "", kFamilyHelp},
    {"active.alter", ActiveAlter, -2, kStores, kOneKey,
     "Changes the window of an audience, or for how long days are kept.", "1.0.0",
     "key#0 [WINDOW window] [KEEP d]"},
    {"active.create", ActiveCreate, -2, kStores | kFast, kOneKey,
     "Creates a set of active ids with a window, a zone and a time to keep days.", "1.0.0",
     "key#0 [WINDOW window] [TZ zone] [KEEP d]"},
    Replying("[date active new peak peak_at_ms]",
             {"active.day", ActiveDay, -2, kReadOnly, kOneKey,
              "Returns who was active and new, and the peak, of the days that end with one.",
              "1.0.0", "key#0 [DAY date] [DAYS n:int]"}),
    {"active.forget", ActiveForget, -3, kWrite | kFast, kOneKey, "Forgets ids.", "1.0.0",
     "key#0 id..."},
    {"active.online", ActiveOnline, -2, kReadOnly | kFast, kOneKey,
     "Returns how many ids are online.", "1.0.0", "key#0 [AT t:time]"},
    Replying("peak at_ms", {"active.peak", ActivePeak, -2, kReadOnly | kFast, kOneKey,
                            "Returns the most ids that were online at once on a day.", "1.0.0",
                            "key#0 [DAY date]"}),
    Replying("cursor ids", {"active.scan", ActiveScan, -3, kReadOnly, kOneKey, "Iterates over ids.",
                            "1.0.0", "key#0 cursor:int [COUNT n:int] [ONLINE]"}),
    Replying("number last_seen_ms first_seen_ms online",
             {"active.seen", ActiveSeen, 3, kReadOnly | kFast, kOneKey,
              "Returns an id's number and when it was seen.", "1.0.0", "key#0 id"}),
    Replying("[at_ms online]",
             {"active.series", ActiveSeries, 8, kReadOnly, kOneKey,
              "Returns the most ids online at once in each step of a range of time.", "1.0.0",
              "key#0 FROM t:time TO t:time STEP d"}),
    Replying("window_ms zone keep_ms ids online",
             {"active.show", ActiveShow, 2, kReadOnly | kFast, kOneKey,
              "Returns the options of an audience, and how many ids it has.", "1.0.0", "key#0"}),
    {"active.touch", ActiveTouch, -3, kStores | kFast, kOneKey,
     "Notes that ids are active and returns how many are online.", "1.0.0", "key#0 id..."},
    {"active.touchat", ActiveTouchAt, -4, kStores | kFast, kOneKey,
     "Notes that ids were active at an instant and returns how many are online now.", "1.0.0",
     "key#0 t:time id..."},
    {"active.users", ActiveUsers, 6, kReadOnly, kOneKey,
     "Returns how many distinct ids were active on any of the days.", "1.0.0",
     "key#0 FROM date TO date"},
};

}  // namespace

std::span<const Command> ActiveCommands() { return kActiveCommands; }

}  // namespace tally::server
