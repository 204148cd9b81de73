// Helpers for a command that calls an operation of the engine: they say where the operation works,
// and report what it did.
#pragma once

#include <string_view>

#include "core/engine/place.h"
#include "core/words/word_reader.h"
#include "server/command/command_context.h"

namespace tally::server {

inline Place PlaceOf(CommandContext& context) {
  return {context.engine(), context.database, context.now_ms, context.replaying};
}

// Words from a log are trusted: they were right when they were written.
inline WordOrigin OriginOf(const CommandContext& context) {
  return context.replaying ? WordOrigin::kStored : WordOrigin::kCaller;
}

// Replies the error of a WordReader; a syntax error if it is empty. Always returns false.
bool ReplyWordError(CommandContext& context, std::string_view error);

inline constexpr std::string_view kFullError =
    "ERR the key has 1000 counters of different rules already, which is the most";

// False after replying WRONGTYPE or kFullError.
[[nodiscard]] bool CheckOutcome(CommandContext& context, const KeyOutcome& outcome);

// Reports the key as `event` if it has changed, and as "del" if it became empty and was removed.
inline void ReportChange(CommandContext& context, std::string_view key, const KeyOutcome& outcome,
                         std::string_view event) {
  if (outcome.changed) context.Changed(kEventModule, event, key);
  if (outcome.removed) context.host.key_events.Notify(kEventGeneric, "del", context.database, key);
}

}  // namespace tally::server
