// What the sorted set families share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/zset/zset.h"
#include "server/command/command_context.h"

namespace tally::server {

inline ZSetLimits ZSetLimitsOf(const CommandContext& context) {
  const ValueLimits& limits = context.host.limits;
  return {static_cast<size_t>(limits.zset_max_listpack_entries),
          static_cast<size_t>(limits.zset_max_listpack_value)};
}

// Returns the sorted set of the key, and creates it if the key is absent. Returns null after
// replying WRONGTYPE.
ZSet* SetForWrite(CommandContext& context, std::string_view key);

// Replies a member with its score: two elements of a flat array in RESP2, a pair in RESP3.
void ReplyScored(ReplyBuilder& reply, const ElementView& member, double score);
// Replies the header of an array of `count` members, each with its score if `with_scores`.
void ReplyHeader(ReplyBuilder& reply, size_t count, bool with_scores);

// Reads "5", "(5" or "-inf". Returns nothing for any other text.
std::optional<ScoreBound> ParseScoreBound(std::string_view text);
// Reads "-", "+", "[a" or "(a". Returns nothing for any other text.
std::optional<LexBound> ParseLexBound(std::string_view text);

// Returns the ranks from index `first` to `last` inclusive, as in ZRANGE: negative indexes count
// from the end.
RankRange RanksBetween(int64_t first, int64_t last, size_t size);

}  // namespace tally::server
