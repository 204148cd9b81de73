#include "server/command/engine_call.h"

#include "core/bytes/str_cat.h"
#include "server/command/usage.h"

namespace tally::server {

bool ReplyWordError(CommandContext& context, std::string_view error) {
  if (error.empty()) {
    ReplySyntaxError(context);
  } else {
    context.reply.Error(StrCat("ERR ", error));
  }
  return false;
}

bool CheckOutcome(CommandContext& context, const KeyOutcome& outcome) {
  if (!outcome.wrong_type && !outcome.full) return true;
  context.reply.Error(outcome.full ? kFullError : kWrongTypeError);
  return false;
}

void TellChange(CommandContext& context, std::string_view key, const KeyOutcome& outcome,
                std::string_view event) {
  if (outcome.changed) context.Changed(kEventModule, event, key);
  if (outcome.removed) context.host.key_events.Notify(kEventGeneric, "del", context.database, key);
}

}  // namespace tally::server
