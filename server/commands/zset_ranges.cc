// Ranges of sorted sets: by rank, score and member; read, counted, stored and removed.
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "core/bytes/number.h"
#include "server/arguments/scan_args.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/zset_access.h"

namespace tally::server {
namespace {

enum class RangeBy : uint8_t { kRank, kScore, kMember };

struct RangeRequest {
  RangeBy by = RangeBy::kRank;
  bool reverse = false;
  bool with_scores = false;
  bool limited = false;
  int64_t offset = 0;
  int64_t count = -1;
  // Bounds; those of the kind `by` are set. In a reversed range by score or member the higher bound
  // comes first in the call, so the two words were swapped.
  int64_t first = 0;
  int64_t last = 0;
  ScoreBound min_score{};
  ScoreBound max_score{};
  LexBound min_member{LexBound::Kind::kLowest};
  LexBound max_member{LexBound::Kind::kHighest};
};

// Reads the two bounds, at `index` and `index` + 1. Returns false after replying an error.
bool ParseBounds(CommandContext& context, size_t index, RangeRequest& request) {
  if (request.by == RangeBy::kRank) {
    const auto first = context.Int64Arg(index);
    if (!first) return false;
    const auto last = context.Int64Arg(index + 1);
    if (!last) return false;
    request.first = *first;
    request.last = *last;
    return true;
  }
  std::string_view low = context.args[index];
  std::string_view high = context.args[index + 1];
  if (request.reverse) std::swap(low, high);
  if (request.by == RangeBy::kScore) {
    const auto min = ParseScoreBound(low);
    const auto max = ParseScoreBound(high);
    if (!min || !max) {
      context.reply.Error("ERR min or max is not a float");
      return false;
    }
    request.min_score = *min;
    request.max_score = *max;
    return true;
  }
  const auto min = ParseLexBound(low);
  const auto max = ParseLexBound(high);
  if (!min || !max) {
    context.reply.Error("ERR min or max not valid string range item");
    return false;
  }
  request.min_member = *min;
  request.max_member = *max;
  return true;
}

RankRange Resolve(const ZSet& set, const RangeRequest& request) {
  switch (request.by) {
    case RangeBy::kRank: {
      const RankRange ranks = RanksBetween(request.first, request.last, set.size());
      if (!request.reverse) return ranks;
      return ranks.empty() ? ranks : RankRange{set.size() - ranks.end, set.size() - ranks.begin};
    }
    case RangeBy::kScore:
      return set.ScoreRange(request.min_score, request.max_score);
    case RangeBy::kMember:
      return set.LexRange(request.min_member, request.max_member);
  }
  return {};
}

// Returns the part of the range that LIMIT leaves. LIMIT counts in the order of the reply: from the
// end if the range is reversed.
RankRange ApplyLimit(RankRange range, const RangeRequest& request) {
  if (!request.limited) return range;
  if (request.offset < 0 || static_cast<uint64_t>(request.offset) >= range.size()) return {};
  const auto skipped = static_cast<size_t>(request.offset);
  const size_t left = range.size() - skipped;
  const size_t taken =
      request.count < 0 ? left : std::min(left, static_cast<size_t>(request.count));
  return request.reverse ? RankRange{range.end - skipped - taken, range.end - skipped}
                         : RankRange{range.begin + skipped, range.begin + skipped + taken};
}

// Which words a command accepts after the bounds.
struct RangeOptionWords {
  bool by_allowed;      // BYSCORE, BYLEX and REV
  bool scores_allowed;  // WITHSCORES
};

// Reads the words from argument `from` on. Returns false after replying an error.
bool ParseRangeOptions(CommandContext& context, size_t from, RangeOptionWords words,
                       RangeRequest& request) {
  const Args args = context.args;
  for (size_t i = from; i < args.size(); ++i) {
    const bool by_open = words.by_allowed && request.by == RangeBy::kRank;
    if (words.scores_allowed && IsWord(args[i], "withscores")) {
      request.with_scores = true;
    } else if (IsWord(args[i], "limit") && i + 2 < args.size()) {
      const auto offset = context.Int64Arg(i + 1);
      if (!offset) return false;
      const auto count = context.Int64Arg(i + 2);
      if (!count) return false;
      request.limited = true;
      request.offset = *offset;
      request.count = *count;
      i += 2;
    } else if (words.by_allowed && !request.reverse && IsWord(args[i], "rev")) {
      request.reverse = true;
    } else if (by_open && IsWord(args[i], "byscore")) {
      request.by = RangeBy::kScore;
    } else if (by_open && IsWord(args[i], "bylex")) {
      request.by = RangeBy::kMember;
    } else {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  // Redis ignores LIMIT in a range by rank if its count is -1, which means all that is left.
  if (request.by == RangeBy::kRank && request.count == -1) request.limited = false;
  std::string_view error;
  if (request.limited && request.by == RangeBy::kRank) {
    error = "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX";
  } else if (request.with_scores && request.by == RangeBy::kMember) {
    error = "ERR syntax error, WITHSCORES not supported in combination with BYLEX";
  }
  if (!error.empty()) context.reply.Error(error);
  return error.empty();
}

void ReplyRange(CommandContext& context, const RangeRequest& request) {
  ZSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  if (set == nullptr) return context.reply.Array(0);
  const RankRange range = ApplyLimit(Resolve(*set, request), request);
  ReplyHeader(context.reply, range.size(), request.with_scores);
  set->ForEach(range, request.reverse, [&](const ElementView& member, double score) {
    if (request.with_scores) {
      ReplyScored(context.reply, member, score);
    } else {
      context.reply.Bulk(member);
    }
    return true;
  });
}

void Range(CommandContext& context, RangeRequest request, RangeOptionWords words) {
  if (!ParseRangeOptions(context, 4, words, request)) return;
  if (ParseBounds(context, 2, request)) ReplyRange(context, request);
}

void ZRange(CommandContext& context) { Range(context, {}, {true, true}); }
void ZRevRange(CommandContext& context) { Range(context, {.reverse = true}, {false, true}); }
void ZRangeByScore(CommandContext& context) {
  Range(context, {.by = RangeBy::kScore}, {false, true});
}
void ZRevRangeByScore(CommandContext& context) {
  Range(context, {.by = RangeBy::kScore, .reverse = true}, {false, true});
}
void ZRangeByLex(CommandContext& context) {
  Range(context, {.by = RangeBy::kMember}, {false, true});
}
void ZRevRangeByLex(CommandContext& context) {
  Range(context, {.by = RangeBy::kMember, .reverse = true}, {false, true});
}

void ZRangeStore(CommandContext& context) {
  const std::string_view target = context.args[1];
  RangeRequest request;
  if (!ParseRangeOptions(context, 5, {true, false}, request)) return;
  if (!ParseBounds(context, 3, request)) return;
  ZSet* source = nullptr;
  if (!context.Read(context.args[2], source)) return;
  Keyspace& keyspace = context.keyspace();
  auto copy = std::make_unique<ZSet>(keyspace.seed());
  if (source != nullptr) {
    const ZSetLimits limits = ZSetLimitsOf(context);
    const RankRange range = ApplyLimit(Resolve(*source, request), request);
    source->ForEach(range, false, [&](std::string_view member, double score) {
      copy->Set(member, score, limits);
      return true;
    });
  }
  const size_t stored = copy->size();
  if (stored > 0) {
    keyspace.SetHeap(target, copy.release(), kNoDeadline, context.now_ms);
    context.Changed(kEventZset, "zrangestore", target);
  } else if (const Keyspace::Entry old = context.FindForWrite(target)) {
    context.Remove(old);
  }
  context.reply.Integer(static_cast<int64_t>(stored));
}

void Count(CommandContext& context, RangeBy by) {
  RangeRequest request{.by = by};
  if (!ParseBounds(context, 2, request)) return;
  ZSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  context.reply.Integer(set == nullptr ? 0 : static_cast<int64_t>(Resolve(*set, request).size()));
}

void ZCount(CommandContext& context) { Count(context, RangeBy::kScore); }
void ZLexCount(CommandContext& context) { Count(context, RangeBy::kMember); }

void RemoveRange(CommandContext& context, RangeBy by, std::string_view event) {
  RangeRequest request{.by = by};
  if (!ParseBounds(context, 2, request)) return;
  ZSet* set = nullptr;
  if (!context.Write(context.args[1], set)) return;
  if (set == nullptr) return context.reply.Integer(0);
  const RankRange range = Resolve(*set, request);
  set->EraseRange(range);
  if (!range.empty()) context.Changed(kEventZset, event, context.args[1]);
  if (set->empty()) context.RemoveEmpty(context.args[1]);
  context.reply.Integer(static_cast<int64_t>(range.size()));
}

void ZRemRangeByRank(CommandContext& context) {
  RemoveRange(context, RangeBy::kRank, "zremrangebyrank");
}
void ZRemRangeByScore(CommandContext& context) {
  RemoveRange(context, RangeBy::kScore, "zremrangebyscore");
}
void ZRemRangeByLex(CommandContext& context) {
  RemoveRange(context, RangeBy::kMember, "zremrangebylex");
}

// Redis's packed sets hold whole scores as integers, and ZSCAN replies a score in the form in which
// it is held.
void AddScore(ScanReply& found, double score, bool packed) {
  constexpr double kMostHeld = 0x1p62;
  if (packed && std::trunc(score) == score && std::abs(score) <= kMostHeld) {
    found.Add(Int64Text(static_cast<int64_t>(score)).view());
  } else {
    found.AddDouble(score);
  }
}

void ZScan(CommandContext& context) {
  const auto cursor = CursorArg(context, 2);
  if (!cursor) return;
  ZSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  ScanReply found(context);
  if (set == nullptr) return found.Finish(0);
  ScanOptions options;
  if (!ParseScanOptions(context, 3, ScanTarget::kElements, options)) return;
  const bool packed = set->encoding() == std::string_view("listpack");
  const uint64_t next =
      set->Scan(*cursor, options.count, [&](const ElementView& member, double score) {
        if (!options.Matches(member)) return;
        found.Add(member);
        AddScore(found, score, packed);
      });
  found.Finish(next);
}

constexpr Command kZSetRangeCommands[] = {
    {"zcount", ZCount, 4, kReadOnly | kFast, kOneKey,
     "Returns the number of members in a sorted set within a range of scores.", "2.0.0",
     "key#0 min:double max:double"},
    {"zlexcount", ZLexCount, 4, kReadOnly | kFast, kOneKey,
     "Returns the number of members in a sorted set within a lexicographical range.", "2.8.9",
     "key#0 min max"},
    {"zrange", ZRange, -4, kReadOnly, kOneKey,
     "Returns members in a sorted set within a range of indexes, scores or members.", "1.2.0",
     "key#0 start stop [sortby@6.2.0<BYSCORE|BYLEX>] [REV@6.2.0] [LIMIT "
     "offset_count@6.2.0(offset:int count:int)] [WITHSCORES]"},
    {"zrangebylex", ZRangeByLex, -4, kReadOnly, kOneKey,
     "Returns members in a sorted set within a lexicographical range.", "2.8.9",
     "key#0 min max [LIMIT offset_count(offset:int count:int)]"},
    {"zrangebyscore", ZRangeByScore, -4, kReadOnly, kOneKey,
     "Returns members in a sorted set within a range of scores.", "1.0.5",
     "key#0 min:double max:double [WITHSCORES@2.0.0] [LIMIT offset_count(offset:int count:int)]"},
    {"zrangestore", ZRangeStore, -5, kStores, TwoKeys(kOverwritesKey, kReadsKey),
     "Stores a range of members of a sorted set in a key.", "6.2.0",
     "dst#0 src#1 min max [sortby<BYSCORE|BYLEX>] [REV] [LIMIT offset_count(offset:int "
     "count:int)]"},
    {"zremrangebylex", ZRemRangeByLex, 4, kWrite, OneKey(kDeletesFromKey),
     "Removes members in a sorted set within a lexicographical range.", "2.8.9", "key#0 min max"},
    {"zremrangebyrank", ZRemRangeByRank, 4, kWrite, OneKey(kDeletesFromKey),
     "Removes members in a sorted set within a range of indexes.", "2.0.0",
     "key#0 start:int stop:int"},
    {"zremrangebyscore", ZRemRangeByScore, 4, kWrite, OneKey(kDeletesFromKey),
     "Removes members in a sorted set within a range of scores.", "1.2.0",
     "key#0 min:double max:double"},
    {"zrevrange", ZRevRange, -4, kReadOnly, kOneKey,
     "Returns members in a sorted set within a range of indexes in reverse order.", "1.2.0",
     "key#0 start:int stop:int [WITHSCORES]"},
    {"zrevrangebylex", ZRevRangeByLex, -4, kReadOnly, kOneKey,
     "Returns members in a sorted set within a lexicographical range in reverse order.", "2.8.9",
     "key#0 max min [LIMIT offset_count(offset:int count:int)]"},
    {"zrevrangebyscore", ZRevRangeByScore, -4, kReadOnly, kOneKey,
     "Returns members in a sorted set within a range of scores in reverse order.", "2.2.0",
     "key#0 max:double min:double [WITHSCORES] [LIMIT offset_count(offset:int count:int)]"},
    {"zscan", ZScan, -3, kReadOnly, kOneKey, "Iterates over members and scores of a sorted set.",
     "2.8.0", "key#0 cursor:int [MATCH pattern:pattern] [COUNT count:int]"},
};

}  // namespace

std::span<const Command> ZSetRangeCommands() { return kZSetRangeCommands; }

}  // namespace tally::server
