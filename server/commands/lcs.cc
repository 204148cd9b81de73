// LCS: what two strings have in common.
#include <string>
#include <string_view>
#include <vector>

#include "core/bytes/common_subsequence.h"
#include "server/command/command_context.h"
#include "server/commands/families.h"
#include "server/commands/string_value.h"

namespace tally::server {
namespace {

// About a quarter of a second, in which nobody else is served.
constexpr size_t kMostWork = size_t{1} << 26;

struct LcsOptions {
  bool length = false;
  bool index = false;
  bool with_lengths = false;
  int64_t least_run = 0;
};

bool OptionArgs(CommandContext& context, LcsOptions& options) {
  const Args args = context.args;
  for (size_t i = 3; i < args.size(); ++i) {
    if (IsWord(args[i], "idx")) {
      options.index = true;
    } else if (IsWord(args[i], "len")) {
      options.length = true;
    } else if (IsWord(args[i], "withmatchlen")) {
      options.with_lengths = true;
    } else if (IsWord(args[i], "minmatchlen") && i + 1 < args.size()) {
      const auto least = context.Int64Arg(++i);
      if (!least) return false;
      options.least_run = *least;
    } else {
      context.reply.Error(kSyntaxError);
      return false;
    }
  }
  if (!options.length || !options.index) return true;
  context.reply.Error("ERR If you want both the length and indexes, please just use IDX.");
  return false;
}

// The text of a key; empty if it is absent. More than kMostWork bytes are too many for any other
// text, so no more are copied. Returns false after replying an error.
bool TextOf(CommandContext& context, const Keyspace::Entry& entry, std::string& text) {
  if (entry && entry.type() != Type::kString) {
    context.reply.Error("ERR The specified keys must contain string values");
    return false;
  }
  if (entry) text = StringText(entry).view().substr(0, kMostWork);
  return true;
}

size_t LengthOf(const std::vector<CommonRun>& runs) {
  size_t length = 0;
  for (const CommonRun& run : runs) length += run.size;
  return length;
}

void ReplyRange(ReplyBuilder& reply, size_t begin, size_t size) {
  reply.IntegerPair(static_cast<int64_t>(begin), static_cast<int64_t>(begin + size - 1));
}

void ReplyRuns(ReplyBuilder& reply, const std::vector<CommonRun>& runs, const LcsOptions& options) {
  reply.Map(2);
  reply.Bulk("matches");
  const size_t mark = reply.BeginArray();
  size_t shown = 0;
  for (const CommonRun& run : runs) {
    const auto size = static_cast<int64_t>(run.size);
    if (size < options.least_run) continue;
    reply.Array(options.with_lengths ? 3 : 2);
    ReplyRange(reply, run.a_begin, run.size);
    ReplyRange(reply, run.b_begin, run.size);
    if (options.with_lengths) reply.Integer(size);
    ++shown;
  }
  reply.EndArray(mark, shown);
  reply.Bulk("len");
  reply.Integer(static_cast<int64_t>(LengthOf(runs)));
}

void Lcs(CommandContext& context) {
  std::string a;
  std::string b;
  LcsOptions options;
  if (!TextOf(context, context.Find(context.args[1]), a)) return;
  if (!TextOf(context, context.Find(context.args[2]), b)) return;
  if (!OptionArgs(context, options)) return;
  if (CommonSubsequenceWork(a.size(), b.size()) > kMostWork) {
    return context.reply.Error("ERR the strings are too long: LCS compares each byte with each");
  }
  const std::vector<CommonRun> runs = CommonSubsequence(a, b);
  if (options.index) return ReplyRuns(context.reply, runs, options);
  if (options.length) return context.reply.Integer(static_cast<int64_t>(LengthOf(runs)));
  std::string text;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) text.append(a, run->a_begin, run->size);
  context.reply.Bulk(text);
}

constexpr Command kLcsCommands[] = {
    {"lcs",
     Lcs,
     -3,
     kReadOnly,
     {1, 2, 1},
     "Finds the longest common substring.",
     "7.0.0",
     "key1#0 key2#0 [LEN] [IDX] [MINMATCHLEN len:int] [WITHMATCHLEN]"},
};

}  // namespace

std::span<const Command> LcsCommands() { return kLcsCommands; }

}  // namespace tally::server
