#include "server/commands/quota_effects.h"

#include "server/command/engine_call.h"

namespace tally::server {

bool ReportAndLog(CommandContext& context, QuotaArgs& args, const QuotaBooks::Outcome& outcome,
                  std::string_view event, std::string_view named) {
  if (!CheckOutcome(context, outcome)) return false;
  if (outcome.too_much) return args.TooMuch(named);
  ReportChange(context, args.book(), outcome, event);
  if (outcome.removed) {
    context.LogInstead({"DEL", args.book()});
  } else if (outcome.changed || outcome.retention_changed) {
    args.Log(outcome.retention_changed);
  }
  return true;
}

}  // namespace tally::server
