// What the sorted set families share.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/zset/zset.h"
#include "server/command/command_context.h"

namespace tally::server {

inline ZSetLimits LimitsOf(const ValueLimits& limits) {
  return {static_cast<size_t>(limits.zset_max_listpack_entries),
          static_cast<size_t>(limits.zset_max_listpack_value)};
}

// The key's set, made if it is absent. Null after replying WRONGTYPE.
ZSet* SetForWrite(CommandContext& context, std::string_view key);

// A member with its score: two elements of a flat array in RESP2, a pair in RESP3.
void ReplyScored(ReplyBuilder& reply, std::string_view member, double score);
// The header of `count` members, each with its score if `with_scores`.
void ReplyHeader(ReplyBuilder& reply, size_t count, bool with_scores);

// "5", "(5", "-inf". Nothing if it is no such bound.
std::optional<ScoreBound> ParseScoreBound(std::string_view text);
// "-", "+", "[a", "(a". Nothing if it is no such bound.
std::optional<LexBound> ParseLexBound(std::string_view text);

// Ranks from indexes as ZRANGE takes them: negative ones count from the end.
RankRange RanksBetween(int64_t first, int64_t last, size_t size);

}  // namespace tally::server
