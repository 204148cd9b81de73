#include "server/commands/active_args.h"

#include <algorithm>
#include <iterator>

#include "core/bytes/str_cat.h"
#include "core/time/duration.h"
#include "server/command/usage.h"

namespace tally::server {
namespace {

constexpr int64_t kMaxDays = 3'660;

bool ReadUpTo(CommandContext& context, size_t index, std::string_view name, int64_t max_ms,
              int64_t& ms) {
  if (!ReadDuration(context, index, name, ms)) return false;
  if (ms <= max_ms) return true;
  context.reply.Error(StrCat("ERR ", name, " must be at most ", max_ms / kDayMs, "d"));
  return false;
}

bool ReadWindow(CommandContext& context, size_t index, int64_t& ms) {
  return ReadUpTo(context, index, "WINDOW", ActiveOptions::kMaxWindowMs, ms);
}

bool ReadKeep(CommandContext& context, size_t index, int64_t& ms) {
  return ReadUpTo(context, index, "KEEP", ActiveOptions::kMaxKeepMs, ms);
}

}  // namespace

bool ReadActiveDate(ArgReader in, size_t index, std::string_view name,
                    std::optional<int32_t>& day) {
  if (index >= in.args.size()) {
    ReplySyntaxError(in.context);
    return false;
  }
  day = ParseDate(in.args[index]);
  if (!day) in.reply.Error(StrCat("ERR ", name, " must be a date as yyyy-mm-dd, from 1970 on"));
  return day.has_value();
}

bool ReadActiveOptions(CommandContext& context, ActiveOptions& options) {
  const Args args = context.args;
  OptionWords words;
  for (size_t i = 2; i < args.size(); i += 2) {
    bool good = false;
    if (words.Is(args[i], "window")) {
      good = ReadWindow(context, i + 1, options.window_ms);
    } else if (words.Is(args[i], "keep")) {
      good = ReadKeep(context, i + 1, options.keep_ms);
    } else if (words.Is(args[i], "tz") && i + 1 < args.size()) {
      const Zone* zone = ReadZone(context, args[i + 1]);
      if (zone != nullptr) options.zone = *zone;
      good = zone != nullptr;
    } else {
      ReplyOptionError(context, words);
    }
    if (!good) return false;
  }
  return true;
}

bool ReadActiveChange(CommandContext& context, Audiences::Change& change) {
  const Args args = context.args;
  OptionWords words;
  for (size_t i = 2; i < args.size(); i += 2) {
    bool good = false;
    int64_t ms = 0;
    if (words.Is(args[i], "window")) {
      good = ReadWindow(context, i + 1, ms);
      change.window_ms = ms;
    } else if (words.Is(args[i], "keep")) {
      good = ReadKeep(context, i + 1, ms);
      change.keep_ms = ms;
    } else if (context.replaying && words.Is(args[i], "now")) {
      good = ReadInstant(context, i + 1, "NOW", change.judged_at_ms);
      change.forget_at_ms = change.judged_at_ms;
    } else if (context.replaying && words.Is(args[i], "forget")) {
      good = ReadInstant(context, i + 1, "FORGET", change.forget_at_ms);
    } else {
      ReplyOptionError(context, words);
    }
    if (!good) return false;
  }
  return true;
}

bool ReadLoggedTouch(CommandContext& context, ActiveTouchArgs& touch) {
  const Args args = context.args;
  int64_t* const instants[] = {&touch.time.at_ms, &touch.time.judged_at_ms, &touch.forget_at_ms};
  constexpr std::string_view kNames[] = {"AT", "NOW", "FORGET"};
  size_t logged = 0;
  for (size_t count = 1; count <= std::size(kNames); ++count) {
    if (args.size() >= 2 * count + 2 && args[args.size() - 2] == kNames[count - 1]) logged = count;
  }
  const size_t end = args.size() - 2 * logged;
  for (size_t i = 0; i < logged; ++i) {
    if (!ReadInstant(context, end + 2 * i + 1, kNames[i], *instants[i])) return false;
  }
  // Those that are left out are as the one before.
  for (size_t i = std::max<size_t>(logged, 1); i < std::size(kNames); ++i) {
    *instants[i] = *instants[i - 1];
  }
  touch.ids = args.subspan(2, end - 2);
  return true;
}

bool CheckActiveIds(CommandContext& context, Args ids) {
  for (const std::string_view id : ids) {
    if (id.size() <= IdBook::kMaxIdBytes) continue;
    context.reply.Error(StrCat("ERR id must be at most ", IdBook::kMaxIdBytes, " bytes long"));
    return false;
  }
  return true;
}

bool ReadActiveDays(CommandContext& context, bool several, ActiveDayArgs& days) {
  OptionWords options;
  for (size_t i = 2; i < context.args.size(); i += 2) {
    bool good = false;
    if (options.Is(context.args[i], "day")) {
      good = ReadActiveDate(context, i + 1, "DAY", days.day);
    } else if (several && options.Is(context.args[i], "days")) {
      good = ReadCount(context, i + 1, "DAYS", 1, days.days);
    } else {
      ReplyOptionError(context, options);
    }
    if (!good) return false;
  }
  if (days.days <= kMaxDays) return true;
  context.reply.Error(StrCat("ERR DAYS must be at most ", kMaxDays));
  return false;
}

bool ReadActiveScan(CommandContext& context, ActiveScanArgs& scan) {
  const Args args = context.args;
  int64_t cursor = 0;
  if (!ReadCount(context, 2, "cursor", 0, cursor)) return false;
  scan.cursor = static_cast<uint64_t>(cursor);
  OptionWords options;
  for (size_t i = 3; i < args.size(); ++i) {
    if (options.Is(args[i], "online")) {
      scan.online = true;
    } else if (options.Is(args[i], "count")) {
      if (!ReadCount(context, ++i, "COUNT", 1, scan.count)) return false;
    } else {
      return ReplyOptionError(context, options);
    }
  }
  return true;
}

}  // namespace tally::server
