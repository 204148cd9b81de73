#include "server/commands/zset_access.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>

#include "core/bytes/double_format.h"

namespace tally::server {

ZSet* SetForWrite(CommandContext& context, std::string_view key) {
  ZSet* set = nullptr;
  if (!context.Write(key, set)) return nullptr;
  if (set != nullptr) return set;
  Keyspace& keyspace = context.keyspace();
  return &keyspace.SetHeap(key, new ZSet(keyspace.seed()), kNoDeadline, context.now_ms);
}

void ReplyScored(ReplyBuilder& reply, const ElementView& member, double score) {
  if (reply.protocol() == 3) reply.Array(2);
  reply.Bulk(member);
  reply.Double(score);
}

void ReplyHeader(ReplyBuilder& reply, size_t count, bool with_scores) {
  reply.Array(with_scores && reply.protocol() == 2 ? count * 2 : count);
}

std::optional<ScoreBound> ParseScoreBound(std::string_view text) {
  ScoreBound bound{0, text.starts_with('(')};
  if (bound.exclusive) text.remove_prefix(1);
  // Redis reads a bound with strtod, which accepts more than a score may be: leading blanks,
  // numbers out of range, and an empty text.
  const std::string terminated(text);
  char* end = nullptr;
  bound.score = std::strtod(terminated.c_str(), &end);
  if (*end != '\0' || std::isnan(bound.score)) return std::nullopt;
  return bound;
}

std::optional<LexBound> ParseLexBound(std::string_view text) {
  using Kind = LexBound::Kind;
  if (text == "-") return LexBound{Kind::kLowest};
  if (text == "+") return LexBound{Kind::kHighest};
  if (text.starts_with('[')) return LexBound{Kind::kInclusive, text.substr(1)};
  if (text.starts_with('(')) return LexBound{Kind::kExclusive, text.substr(1)};
  return std::nullopt;
}

RankRange RanksBetween(int64_t first, int64_t last, size_t size) {
  const auto length = static_cast<int64_t>(size);
  if (first < 0) first = std::max<int64_t>(first + length, 0);
  if (last < 0) last += length;
  last = std::min(last, length - 1);
  if (first > last || first >= length) return {};
  return {static_cast<size_t>(first), static_cast<size_t>(last) + 1};
}

}  // namespace tally::server
