// Unions, intersections and differences of sorted sets (and of sets, whose scores are 1).
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/set/set.h"
#include "server/arguments/counted_keys.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/zset_access.h"

namespace tally::server {
namespace {

enum class Operation : uint8_t { kUnion, kIntersection, kDifference };
enum class Aggregate : uint8_t { kSum, kMin, kMax };

// One input: a sorted set, a set, or an absent key.
struct Source {
  const ZSet* zset = nullptr;
  const Set* set = nullptr;
  double weight = 1;

  size_t size() const { return zset != nullptr ? zset->size() : set != nullptr ? set->size() : 0; }
  std::optional<double> Score(std::string_view member) const {
    if (zset != nullptr) return zset->Score(member);
    if (set != nullptr && set->Contains(member)) return 1;
    return std::nullopt;
  }
  template <typename Visit>
  void ForEach(Visit&& visit) const {
    if (zset != nullptr) {
      zset->ForEach({0, zset->size()}, false, [&](std::string_view member, double score) {
        visit(member, score);
        return true;
      });
    } else if (set != nullptr) {
      set->ForEach([&](std::string_view member) {
        visit(member, 1.0);
        return true;
      });
    }
  }
};

struct Request {
  std::vector<Source> sources;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
  size_t limit = SIZE_MAX;  // of ZINTERCARD
};

double Weighted(double score, double weight) {
  const double product = score * weight;
  return std::isnan(product) ? 0 : product;
}

double Combine(double a, double b, Aggregate aggregate) {
  if (aggregate == Aggregate::kMin) return std::min(a, b);
  if (aggregate == Aggregate::kMax) return std::max(a, b);
  const double sum = a + b;
  // The sum of infinities of both signs is NaN; Redis answers 0 then.
  return std::isnan(sum) ? 0 : sum;
}

// Reads numkeys at `index` and the keys after it. Returns false after replying an error.
bool ReadSources(CommandContext& context, size_t index, Request& request) {
  const auto count = context.Int64Arg(index);
  if (!count) return false;
  if (*count < 1) {
    context.reply.Error("ERR at least 1 input key is needed for '" + context.entry.full_name +
                        "' command");
    return false;
  }
  if (static_cast<uint64_t>(*count) > context.args.size() - index - 1) {
    context.reply.Error(kSyntaxError);
    return false;
  }
  for (const std::string_view key : context.args.subspan(index + 1, static_cast<size_t>(*count))) {
    const Keyspace::Entry entry = context.Find(key);
    Source source;
    if (entry && entry.type() == Type::kZSet) {
      source.zset = &entry.heap<ZSet>();
    } else if (entry && entry.type() == Type::kSet) {
      source.set = &entry.heap<Set>();
    } else if (entry) {
      context.reply.Error(kWrongTypeError);
      return false;
    }
    request.sources.push_back(source);
  }
  return true;
}

bool ReadWeights(CommandContext& context, size_t from, Request& request) {
  for (size_t k = 0; k < request.sources.size(); ++k) {
    const auto weight = context.DoubleArg(from + k, "ERR weight value is not a float");
    if (!weight) return false;
    request.sources[k].weight = *weight;
  }
  return true;
}

struct AllowedWords {
  bool weights;
  bool scores;
  bool limit;
};

bool ReadOptions(CommandContext& context, size_t from, AllowedWords allowed, Request& request) {
  const Args args = context.args;
  for (size_t i = from; i < args.size(); ++i) {
    const size_t behind = args.size() - i - 1;
    if (allowed.weights && IsWord(args[i], "weights") && behind >= request.sources.size()) {
      if (!ReadWeights(context, i + 1, request)) return false;
      i += request.sources.size();
    } else if (allowed.weights && IsWord(args[i], "aggregate") && behind >= 1) {
      ++i;
      if (IsWord(args[i], "sum")) {
        request.aggregate = Aggregate::kSum;
      } else if (IsWord(args[i], "min")) {
        request.aggregate = Aggregate::kMin;
      } else if (IsWord(args[i], "max")) {
        request.aggregate = Aggregate::kMax;
      } else {
        context.reply.Error(kSyntaxError);
        return false;
      }
    } else if (allowed.scores && IsWord(args[i], "withscores")) {
      request.with_scores = true;
    } else if (allowed.limit && IsWord(args[i], "limit") && behind >= 1) {
      const auto limit = context.Int64ArgIn(++i, 0, INT64_MAX, "ERR LIMIT can't be negative");
      if (!limit) return false;
      if (*limit > 0) request.limit = static_cast<size_t>(*limit);
    } else {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  return true;
}

// Returns the score that a member of the first source has in the intersection; nothing if another
// source lacks the member.
std::optional<double> Intersected(const Request& request, std::string_view member, double score) {
  double combined = Weighted(score, request.sources[0].weight);
  for (size_t i = 1; i < request.sources.size(); ++i) {
    const auto other = request.sources[i].Score(member);
    if (!other) return std::nullopt;
    // An infinity times 0 is NaN. As in Redis it is not replaced by 0 here, but left to Combine.
    combined = Combine(combined, *other * request.sources[i].weight, request.aggregate);
  }
  return combined;
}

// The smallest source comes first, because it bounds the work of an intersection. Redis has the
// same order, so sums of floats come out the same.
void SortBySize(Request& request) {
  std::stable_sort(request.sources.begin(), request.sources.end(),
                   [](const Source& a, const Source& b) { return a.size() < b.size(); });
}

std::unique_ptr<ZSet> Compute(CommandContext& context, Request& request, Operation operation) {
  if (operation != Operation::kDifference) SortBySize(request);
  const ZSetLimits limits = ZSetLimitsOf(context);
  auto result = std::make_unique<ZSet>(context.keyspace().seed());
  switch (operation) {
    case Operation::kUnion:
      for (const Source& source : request.sources) {
        source.ForEach([&](std::string_view member, double score) {
          const double weighted = Weighted(score, source.weight);
          const auto old = result->Score(member);
          const double next = old ? Combine(*old, weighted, request.aggregate) : weighted;
          result->Set(member, next, limits);
        });
      }
      break;
    case Operation::kIntersection:
      request.sources[0].ForEach([&](std::string_view member, double score) {
        const auto combined = Intersected(request, member, score);
        if (combined) result->Set(member, *combined, limits);
      });
      break;
    case Operation::kDifference:
      request.sources[0].ForEach([&](std::string_view member, double score) {
        const bool elsewhere =
            std::any_of(request.sources.begin() + 1, request.sources.end(),
                        [&](const Source& other) { return other.Score(member).has_value(); });
        if (!elsewhere) result->Set(member, score, limits);
      });
      break;
  }
  return result;
}

void ReplyOperation(CommandContext& context, Operation operation) {
  Request request;
  if (!ReadSources(context, 1, request)) return;
  const bool weights = operation != Operation::kDifference;
  if (!ReadOptions(context, 2 + request.sources.size(), {weights, true, false}, request)) return;
  const auto result = Compute(context, request, operation);
  ReplyHeader(context.reply, result->size(), request.with_scores);
  result->ForEach({0, result->size()}, false, [&](const ElementView& member, double score) {
    if (request.with_scores) {
      ReplyScored(context.reply, member, score);
    } else {
      context.reply.Bulk(member);
    }
    return true;
  });
}

void StoreOperation(CommandContext& context, Operation operation, std::string_view event) {
  const std::string_view target = context.args[1];
  Request request;
  if (!ReadSources(context, 2, request)) return;
  const bool weights = operation != Operation::kDifference;
  if (!ReadOptions(context, 3 + request.sources.size(), {weights, false, false}, request)) return;
  auto result = Compute(context, request, operation);
  const size_t stored = result->size();
  if (stored > 0) {
    context.keyspace().SetHeap(target, result.release(), kNoDeadline, context.now_ms);
    context.Changed(kEventZset, event, target);
  } else if (const Keyspace::Entry old = context.FindForWrite(target)) {
    context.Remove(old);
  }
  context.reply.Integer(static_cast<int64_t>(stored));
}

void ZUnion(CommandContext& context) { ReplyOperation(context, Operation::kUnion); }
void ZInter(CommandContext& context) { ReplyOperation(context, Operation::kIntersection); }
void ZDiff(CommandContext& context) { ReplyOperation(context, Operation::kDifference); }
void ZUnionStore(CommandContext& context) {
  StoreOperation(context, Operation::kUnion, "zunionstore");
}
void ZInterStore(CommandContext& context) {
  StoreOperation(context, Operation::kIntersection, "zinterstore");
}
void ZDiffStore(CommandContext& context) {
  StoreOperation(context, Operation::kDifference, "zdiffstore");
}

void ZInterCard(CommandContext& context) {
  Request request;
  if (!ReadSources(context, 1, request)) return;
  if (!ReadOptions(context, 2 + request.sources.size(), {false, false, true}, request)) return;
  SortBySize(request);
  size_t found = 0;
  request.sources[0].ForEach([&](std::string_view member, double score) {
    if (found < request.limit && Intersected(request, member, score)) ++found;
  });
  context.reply.Integer(static_cast<int64_t>(found));
}

bool FindStoreKeys(Args args, std::vector<KeyReference>& keys) {
  keys.push_back({1});
  return FindCountedKeys(args, 2, keys);
}

constexpr uint32_t kRead = kReadOnly | kMovableKeys;
constexpr uint32_t kStoreResult = kStores | kMovableKeys;
constexpr KeyRange kTarget{1, 1, 1, kOverwritesKey, kReadsKey};

constexpr Command kZSetAlgebraCommands[] = {
    {"zdiff",
     ZDiff,
     -3,
     kRead,
     {},
     "Returns the difference between sorted sets.",
     "6.2.0",
     "numkeys:int key#0... [WITHSCORES]",
     {},
     FindFirstCountedKeys},
    {"zdiffstore",
     ZDiffStore,
     -4,
     kStoreResult,
     kTarget,
     "Stores the difference of sorted sets in a key.",
     "6.2.0",
     "destination#0 numkeys:int key#1...",
     {},
     FindStoreKeys},
    {"zinter",
     ZInter,
     -3,
     kRead,
     {},
     "Returns the intersection of sorted sets.",
     "6.2.0",
     "numkeys:int key#0... [WEIGHTS weight:int...] [AGGREGATE aggregate<SUM|MIN|MAX>] [WITHSCORES]",
     {},
     FindFirstCountedKeys},
    {"zintercard",
     ZInterCard,
     -3,
     kRead,
     {},
     "Returns the number of members of the intersection of sorted sets.",
     "7.0.0",
     "numkeys:int key#0... [LIMIT limit:int]",
     {},
     FindFirstCountedKeys},
    {"zinterstore",
     ZInterStore,
     -4,
     kStoreResult,
     kTarget,
     "Stores the intersection of sorted sets in a key.",
     "2.0.0",
     "destination#0 numkeys:int key#1... [WEIGHTS weight:int...] [AGGREGATE "
     "aggregate<SUM|MIN|MAX>]",
     {},
     FindStoreKeys},
    {"zunion",
     ZUnion,
     -3,
     kRead,
     {},
     "Returns the union of sorted sets.",
     "6.2.0",
     "numkeys:int key#0... [WEIGHTS weight:int...] [AGGREGATE aggregate<SUM|MIN|MAX>] [WITHSCORES]",
     {},
     FindFirstCountedKeys},
    {"zunionstore",
     ZUnionStore,
     -4,
     kStoreResult,
     kTarget,
     "Stores the union of sorted sets in a key.",
     "2.0.0",
     "destination#0 numkeys:int key#1... [WEIGHTS weight:int...] [AGGREGATE "
     "aggregate<SUM|MIN|MAX>]",
     {},
     FindStoreKeys},
};

}  // namespace

std::span<const Command> ZSetAlgebraCommands() { return kZSetAlgebraCommands; }

}  // namespace tally::server
