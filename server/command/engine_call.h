// Between a command and an operation of the engine: where the operation works, and who is notified
// of what it did.
#pragma once

#include <string_view>

#include "core/engine/place.h"
#include "core/words/word_reader.h"
#include "server/command/command_context.h"

namespace tally::server {

inline Place PlaceOf(CommandContext& context) {
  return {context.engine(), context.database, context.now, context.replaying};
}

// Words of a log were right when they were written.
inline WordOrigin OriginOf(const CommandContext& context) {
  return context.replaying ? WordOrigin::kStored : WordOrigin::kCaller;
}

// Replies what a WordReader found wrong. Always false.
bool ReplyWordError(CommandContext& context, std::string_view error);

// False after replying WRONGTYPE.
[[nodiscard]] bool CheckOutcome(CommandContext& context, const KeyOutcome& outcome);

// Reports a key that has changed, as `event`, and its end if it became empty.
void TellChange(CommandContext& context, std::string_view key, const KeyOutcome& outcome,
                std::string_view event);

}  // namespace tally::server
