// Arguments of the ACTIVE commands. Each function returns false after replying an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/engine/audiences.h"
#include "server/arguments/time_args.h"
#include "server/command/command_context.h"

namespace tally::server {

// A date, as yyyy-mm-dd; `name` is for its error.
bool ReadActiveDate(ArgReader in, size_t index, std::string_view name, std::optional<int32_t>& day);

// The options of CREATE.
bool ReadActiveOptions(CommandContext& context, ActiveOptions& options);
// The options of ALTER; in a replay also NOW and FORGET.
bool ReadActiveChange(CommandContext& context, Audiences::Change& change);

// The ids of TOUCH and TOUCHAT, and when they were seen.
struct ActiveTouchArgs {
  Args ids;
  EventInstants time;
  int64_t forget_at_ms = 0;
};

// Reads the instants after the ids of a logged call. They end with AT t, or NOW t, or FORGET t.
bool ReadLoggedTouch(CommandContext& context, ActiveTouchArgs& touch);
bool CheckActiveIds(CommandContext& context, Args ids);

struct ActiveDayArgs {
  std::optional<int32_t> day;  // nothing: today
  int64_t days = 1;
};

// DAY, and DAYS if the command has `several`.
bool ReadActiveDays(CommandContext& context, bool several, ActiveDayArgs& days);

struct ActiveScanArgs {
  uint64_t cursor = 0;
  int64_t count = 10;
  bool online = false;
};

bool ReadActiveScan(CommandContext& context, ActiveScanArgs& scan);

}  // namespace tally::server
