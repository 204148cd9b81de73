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

}  // namespace tally::server
