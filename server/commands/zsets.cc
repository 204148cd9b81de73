// Sorted sets: members and their scores. Those that pop are in zset_pops.cc, ranges in
// zset_ranges.cc, unions in zset_algebra.cc.
#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/bytes/double_format.h"
#include "server/arguments/sample_args.h"
#include "server/arguments/scan_args.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/zset_access.h"

namespace tally::server {
namespace {

constexpr std::string_view kNanError = "ERR resulting score is not a number (NaN)";

struct AddOptions {
  bool nx = false;
  bool xx = false;
  bool gt = false;
  bool lt = false;
  bool changed = false;
  bool increment = false;
  size_t first_pair = 2;
};

// Returns false after replying an error.
bool ParseAddOptions(CommandContext& context, AddOptions& options) {
  const Args args = context.args;
  size_t i = 2;
  for (; i < args.size(); ++i) {
    if (IsWord(args[i], "nx")) {
      options.nx = true;
    } else if (IsWord(args[i], "xx")) {
      options.xx = true;
    } else if (IsWord(args[i], "gt")) {
      options.gt = true;
    } else if (IsWord(args[i], "lt")) {
      options.lt = true;
    } else if (IsWord(args[i], "ch")) {
      options.changed = true;
    } else if (IsWord(args[i], "incr")) {
      options.increment = true;
    } else {
      break;
    }
  }
  options.first_pair = i;
  const size_t words = args.size() - i;
  std::string_view error;
  if (words == 0 || words % 2 == 1) {
    error = kSyntaxError;
  } else if (options.nx && options.xx) {
    error = "ERR XX and NX options at the same time are not compatible";
  } else if ((options.gt && options.nx) || (options.lt && options.nx) ||
             (options.gt && options.lt)) {
    error = "ERR GT, LT, and/or NX options at the same time are not compatible";
  } else if (options.increment && words > 2) {
    error = "ERR INCR option supports a single increment-element pair";
  }
  if (!error.empty()) context.reply.Error(error);
  return error.empty();
}

struct AddOutcome {
  bool skipped = false;  // an option forbade it
  bool nan = false;
  AddResult result = AddResult::kUnchanged;
  double score = 0;
};

AddOutcome AddOne(ZSet& set, std::string_view member, double score, const AddOptions& options,
                  const ZSetLimits& limits) {
  AddOutcome outcome;
  const bool needs_old = options.nx || options.xx || options.gt || options.lt || options.increment;
  const auto old = needs_old ? set.Score(member) : std::nullopt;
  if (options.increment && old) score += *old;
  outcome.score = score;
  outcome.nan = std::isnan(score);
  outcome.skipped = (options.nx && old) || (options.xx && !old) ||
                    (options.gt && old && score <= *old) || (options.lt && old && score >= *old);
  if (!outcome.nan && !outcome.skipped) outcome.result = set.Set(member, score, limits);
  return outcome;
}

// Runs ZADD without INCR. Returns how many members were added, or with CH added or changed.
int64_t AddPairs(CommandContext& context, ZSet& set, const AddOptions& options,
                 const std::vector<double>& scores) {
  const ZSetLimits limits = ZSetLimitsOf(context);
  int64_t counted = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    const std::string_view member = context.args[options.first_pair + 2 * i + 1];
    const AddOutcome outcome = AddOne(set, member, scores[i], options, limits);
    if (outcome.skipped || outcome.result == AddResult::kUnchanged) continue;
    context.CountChange();
    if (outcome.result == AddResult::kAdded || options.changed) ++counted;
  }
  return counted;
}

void ReplyIncremented(CommandContext& context, ZSet& set, const AddOptions& options,
                      std::string_view member, double delta) {
  const AddOutcome outcome = AddOne(set, member, delta, options, ZSetLimitsOf(context));
  if (outcome.nan) return context.reply.Error(kNanError);
  if (outcome.skipped) return context.reply.Null();
  if (outcome.result != AddResult::kUnchanged) {
    context.Changed(kEventZset, "zincr", context.args[1]);
  }
  context.reply.Double(outcome.score);
}

void ZAdd(CommandContext& context) {
  const std::string_view key = context.args[1];
  AddOptions options;
  if (!ParseAddOptions(context, options)) return;
  std::vector<double> scores;
  for (size_t i = options.first_pair; i < context.args.size(); i += 2) {
    const auto score = context.DoubleArg(i);
    if (!score) return;
    scores.push_back(*score);
  }
  ZSet* set = nullptr;
  if (!context.Write(key, set)) return;
  if (set == nullptr && options.xx) {
    if (options.increment) return context.reply.Null();
    return context.reply.Integer(0);
  }
  if (set == nullptr) set = SetForWrite(context, key);
  if (options.increment) {
    ReplyIncremented(context, *set, options, context.args.back(), scores[0]);
  } else {
    const int64_t counted = AddPairs(context, *set, options, scores);
    if (context.changes() > 0) {
      context.host.key_events.Changed(kEventZset, "zadd", context.database, key);
    }
    context.reply.Integer(counted);
  }
  if (set->empty()) context.RemoveEmpty(key);
}

void ZIncrBy(CommandContext& context) {
  // For Redis this is ZADD … INCR, which looks for options first.
  AddOptions options;
  if (!ParseAddOptions(context, options)) return;
  const auto delta = context.DoubleArg(2);
  if (!delta) return;
  ZSet* set = SetForWrite(context, context.args[1]);
  if (set == nullptr) return;
  ReplyIncremented(context, *set, {.increment = true}, context.args[3], *delta);
  if (set->empty()) context.RemoveEmpty(context.args[1]);
}

void ZRem(CommandContext& context) {
  ZSet* set = nullptr;
  if (!context.Write(context.args[1], set)) return;
  int64_t removed = 0;
  if (set != nullptr) {
    for (const std::string_view member : context.args.subspan(2)) removed += set->Erase(member);
    if (removed > 0) context.Changed(kEventZset, "zrem", context.args[1]);
    if (set->empty()) context.RemoveEmpty(context.args[1]);
  }
  context.reply.Integer(removed);
}

void ZCard(CommandContext& context) {
  ZSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  context.reply.Integer(set == nullptr ? 0 : static_cast<int64_t>(set->size()));
}

void ReplyScore(CommandContext& context, const ZSet* set, std::string_view member) {
  const auto score = set == nullptr ? std::nullopt : set->Score(member);
  if (score) {
    context.reply.Double(*score);
  } else {
    context.reply.Null();
  }
}

void ZScore(CommandContext& context) {
  ZSet* set = nullptr;
  if (context.Read(context.args[1], set)) ReplyScore(context, set, context.args[2]);
}

void ZMScore(CommandContext& context) {
  ZSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  context.reply.Array(context.args.size() - 2);
  for (const std::string_view member : context.args.subspan(2)) ReplyScore(context, set, member);
}

void ReplyRank(CommandContext& context, bool reverse) {
  ZSet* set = nullptr;
  if (!context.Read(context.args[1], set)) return;
  const auto rank = set == nullptr ? std::nullopt : set->Rank(context.args[2], reverse);
  if (!rank) return context.reply.Null();
  context.reply.Integer(static_cast<int64_t>(*rank));
}

void ZRank(CommandContext& context) { ReplyRank(context, false); }
void ZRevRank(CommandContext& context) { ReplyRank(context, true); }

void ReplyDistinct(CommandContext& context, const ZSet& set, size_t count, bool with_scores) {
  const size_t taken = std::min(count, set.size());
  ReplyHeader(context.reply, taken, with_scores);
  const auto reply_one = [&](const ElementView& member, double score) {
    with_scores ? ReplyScored(context.reply, member, score) : context.reply.Bulk(member);
  };
  // Finding a few ranks costs less than a pass over all members.
  constexpr size_t kFewAreOneIn = 100;
  if (taken < set.size() / kFewAreOneIn) {
    absl::flat_hash_set<size_t> ranks;
    while (ranks.size() < taken) {
      const size_t rank = context.host.random() % set.size();
      if (!ranks.insert(rank).second) continue;
      const auto [member, score] = set.At(rank);
      reply_one(std::string_view(member), score);
    }
    return;
  }
  // Shuffling would need memory for the whole set. Selection sampling (Knuth, TAOCP 2, 3.4.2,
  // algorithm S) visits the ranks in order and takes each with the same probability.
  size_t left = set.size();
  size_t wanted = taken;
  set.ForEach({0, set.size()}, false, [&](const ElementView& member, double score) {
    if (context.host.random() % left-- < wanted) {
      --wanted;
      reply_one(member, score);
    }
    return wanted > 0;
  });
}

void ZRandMember(CommandContext& context) {
  const Args args = context.args;
  ZSet* set = nullptr;
  if (args.size() == 2) {
    if (!context.Read(args[1], set)) return;
    if (set == nullptr) return context.reply.Null();
    return context.reply.Bulk(set->At(context.host.random() % set->size()).first);
  }
  const auto wanted = SampleCountArg(context, 2);
  if (!wanted) return;
  const bool with_scores = args.size() == 4 && IsWord(args[3], "withscores");
  if (args.size() > 3 && !with_scores) return context.reply.Error(kSyntaxError);
  if (with_scores && wanted->count > static_cast<size_t>(INT64_MAX / 2)) {
    return context.reply.Error("ERR value is out of range");
  }
  if (!context.Read(args[1], set)) return;
  if (set == nullptr || wanted->count == 0) return context.reply.Array(0);
  if (wanted->distinct) return ReplyDistinct(context, *set, wanted->count, with_scores);
  ReplyHeader(context.reply, wanted->count, with_scores);
  for (size_t i = 0; i < wanted->count; ++i) {
    const auto [member, score] = set->At(context.host.random() % set->size());
    if (with_scores) {
      ReplyScored(context.reply, std::string_view(member), score);
    } else {
      context.reply.Bulk(member);
    }
  }
}

constexpr Command kZSetCommands[] = {
    {"zadd", ZAdd, -4, kStores | kFast, OneKey(kUpdatesKey),
     "Adds members to a sorted set, or updates their scores.", "1.2.0",
     "key#0 [condition@3.0.2<NX|XX>] [comparison@6.2.0<GT|LT>] [change=CH@3.0.2] "
     "[increment=INCR@3.0.2] score_member(score:double member)..."},
    {"zcard", ZCard, 2, kReadOnly | kFast, OneKey(kLooksAtKey),
     "Returns the number of members in a sorted set.", "1.2.0", "key#0"},
    {"zincrby", ZIncrBy, 4, kStores | kFast, kOneKey,
     "Increments the score of a member in a sorted set.", "1.2.0", "key#0 increment:int member"},
    {"zmscore", ZMScore, -3, kReadOnly | kFast, kOneKey,
     "Returns the scores of members in a sorted set.", "6.2.0", "key#0 member..."},
    {"zrandmember", ZRandMember, -2, kReadOnly, kOneKey,
     "Returns random members from a sorted set.", "6.2.0",
     "key#0 [options(count:int [WITHSCORES])]"},
    {"zrank", ZRank, 3, kReadOnly | kFast, kOneKey,
     "Returns the rank of a member in a sorted set, from the lowest score.", "2.0.0",
     "key#0 member"},
    {"zrem", ZRem, -3, kWrite | kFast, OneKey(kDeletesFromKey),
     "Removes members from a sorted set.", "1.2.0", "key#0 member..."},
    {"zrevrank", ZRevRank, 3, kReadOnly | kFast, kOneKey,
     "Returns the rank of a member in a sorted set, from the highest score.", "2.0.0",
     "key#0 member"},
    {"zscore", ZScore, 3, kReadOnly | kFast, kOneKey,
     "Returns the score of a member in a sorted set.", "1.2.0", "key#0 member"},
};

}  // namespace

std::span<const Command> ZSetCommands() { return kZSetCommands; }

}  // namespace tally::server
