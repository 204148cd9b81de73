#include "server/commands/limit_show.h"

#include <absl/strings/ascii.h>

#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "core/engine/limits.h"
#include "core/limit/rule_text.h"
#include "server/command/engine_call.h"

namespace tally::server {
namespace {

// The unit as a rule names it, with the zone and the start of its periods: their names are kept by
// digests of them.
std::string UnitText(CommandContext& context, const LimitShown& one) {
  LimitRule rule;
  one.key.ToRule(rule);
  std::string zone;
  if (one.key.has_zone()) {
    rule.zone = context.engine().zones().FindId(one.key.zone_id);
    if (rule.zone == nullptr) zone = "TZ ?";
  }
  std::string text(one.unit);
  for (const std::string& part : {zone, CalendarText(rule)}) {
    if (!part.empty()) StrAppend(text, ' ', part);
  }
  return text;
}

}  // namespace

// Replies a row for each counter in which anything counts; a BASE has one row for its day and one
// for its window, a LOCKOUT one for its period and one for its block:
//   algorithm          as in a rule: FIXED, SLIDING …; SHADOW FIXED is the counter of a rule in
//                      SHADOW. HOLDS: all that is held; CONCURRENT: what of it such a rule limits
//   period_ms or unit  the period of the rule in ms; the unit of a CALENDAR, with its
//                      zone and start; "day" for the free hits of a BASE, with the same; "block"
//                      for the block of a LOCKOUT that is on, and "remembered" for one that will
//                      lengthen the next; "held" for what is held
//   used               hits in the open window or calendar period. SLIDING: hits in the period up
//                      to now. ROLLING: hits that still count. BUCKET: missing tokens, rounded up.
//                      A block: its place among those that grow, from 1
//   newest_ms          the newest hit, if it is kept. FIXED, ROLLING, BASE: when the window or day
//                      began. CALENDAR: when the period began
//   ends_ms            when nothing of it counts any more, if nothing more is taken. BUCKET: when
//                      it is full, with the refill of the last hit. Later by as much as the
//                      counter's hits were late
void ShowLimitState(CommandContext& context) {
  std::vector<LimitShown> all;
  const KeyOutcome outcome = Limits(PlaceOf(context)).Show(context.args[1], all);
  context.NoteLookup(context.args[1], outcome.found);
  if (!CheckOutcome(context, outcome)) return;
  context.reply.Array(all.size());
  for (const LimitShown& one : all) {
    context.reply.Array(5);
    const std::string word = absl::AsciiStrToUpper(std::string(NameOf(one.algorithm)));
    context.reply.Bulk(StrCat(one.key.shadow ? "SHADOW " : "", word));
    if (one.unit.empty()) {
      context.reply.Integer(one.period_ms);
    } else {
      context.reply.Bulk(UnitText(context, one));
    }
    context.reply.Integer(one.used);
    context.reply.Integer(one.newest_ms);
    context.reply.Integer(one.ends_ms);
  }
}

}  // namespace tally::server
