#include "server/commands/limit_show.h"

#include <vector>

#include "core/engine/limits.h"
#include "server/command/engine_call.h"

namespace tally::server {

// A row for each counter that counts anything, a BASE's day and window apart:
//   algorithm          as in a rule: FIXED, SLIDING …
//   period_ms or unit  as in a rule, in ms; of CALENDAR the unit; "day" for BASE's free hits
//   used               hits in the window that is open, or in the calendar period; SLIDING: in the
//                      period until now, with those ahead of it; ROLLING: by their weight; BUCKET:
//                      tokens that are missing. Parts are rounded up.
//   newest_ms          the newest hit. Where it is not kept, FIXED and BASE: when the window or day
//                      began; CALENDAR, ROLLING: when the newest period with hits began
//   ends_ms            when nothing of it counts any more, unless something more is taken. BUCKET:
//                      it is full, at the refill of the last hit
void ShowLimitState(CommandContext& context) {
  std::vector<LimitShown> all;
  const KeyOutcome outcome = Limits(PlaceOf(context)).Show(context.args[1], all);
  context.NoteLookup(context.args[1], outcome.found);
  if (!CheckOutcome(context, outcome)) return;
  context.reply.Array(all.size());
  for (const LimitShown& one : all) {
    context.reply.Array(5);
    context.reply.Bulk(WordOf(one.algorithm));
    if (one.unit.empty()) {
      context.reply.Integer(one.period_ms);
    } else {
      context.reply.Bulk(one.unit);
    }
    context.reply.Integer(one.used);
    context.reply.Integer(one.newest_ms);
    context.reply.Integer(one.ends_ms);
  }
}

}  // namespace tally::server
