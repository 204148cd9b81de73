#include "server/durability/redis_replay.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/words/word.h"
#include "server/command/arguments.h"
#include "server/config/value_text.h"
#include "server/resp/reply_reader.h"

namespace tally::server {
namespace {

constexpr std::array<std::string_view, 6> kFieldDeadlines = {"hexpire",    "hpexpire", "hexpireat",
                                                             "hpexpireat", "hpersist", "hgetex"};

bool SetsFieldDeadlines(std::string_view name) {
  return std::any_of(kFieldDeadlines.begin(), kFieldDeadlines.end(),
                     [&](std::string_view one) { return IsWord(name, one); });
}

}  // namespace

RedisReplay::RedisReplay(const CommandTable& commands, CommandRunner& runner,
                         rdb::SkippedValues& skipped, Options options)
    : commands_(commands), runner_(runner), skipped_(skipped), options_(options) {
  client_.authenticated = true;
}

absl::Status RedisReplay::Take(Args args) {
  if (IsWord(args[0], "multi")) {
    if (in_transaction_) return absl::DataLossError("a transaction within a transaction");
    in_transaction_ = true;
  } else if (IsWord(args[0], "exec")) {
    if (!in_transaction_) return absl::DataLossError("the end of a transaction without its begin");
    in_transaction_ = false;
    for (const std::vector<std::string>& words : std::exchange(queued_, {})) {
      absl::Status status = Run(std::vector<std::string_view>(words.begin(), words.end()));
      if (!status.ok()) return status;
    }
  } else if (in_transaction_) {
    // Nothing of a transaction runs if a part of it cannot.
    if (options_.is_strict && Judge(args).fate == Fate::kUnknown) return NoteUnknown(args);
    queued_.emplace_back(args.begin(), args.end());
  } else {
    return Run(args);
  }
  return absl::OkStatus();
}

void RedisReplay::DropTransaction() {
  in_transaction_ = false;
  queued_.clear();
}

absl::Status RedisReplay::NoteUnknown(Args args) {
  const std::string_view key = args.size() > 1 ? args[1] : std::string_view();
  const std::string what = StrCat("command ", ToLower(args[0]), ", which is not known here");
  if (options_.is_strict) return absl::UnimplementedError(what);
  ++skipped_commands_;
  skipped_.Add(what, client_.database, key);
  return absl::OkStatus();
}

RedisReplay::Known RedisReplay::Judge(Args args) const {
  // A log has the names that clients use.
  const CommandEntry* entry = commands_.Resolve(args);
  if (entry == nullptr) entry = commands_.FindFullName(args[0]);
  const bool known = entry != nullptr && entry->command->handler != nullptr;
  if (!known && SetsFieldDeadlines(args[0])) {
    return {options_.drop_field_deadlines ? Fate::kNothing : Fate::kUnknown};
  }
  if (!known && IsWord(args[0], "hsetex")) return {JudgeHSetEx(args)};
  // A log holds what has changed something, and which database it was in. A primary also sends what
  // was published, and PING so that the link is not silent.
  if (options_.follows && IsWord(args[0], "ping")) return {Fate::kNothing};
  const bool belongs =
      known && ((entry->command->flags & kWrite) != 0 || entry->full_name == "select" ||
                entry->full_name == "policy.set" ||
                (options_.follows && entry->command->channels == ChannelWords::kFirst));
  if (!belongs || !ArityFits(*entry->command, args.size())) return {Fate::kUnknown};
  return {Fate::kRuns, entry};
}

// HSETEX key [condition] [deadline] FIELDS count field value ...; only what had an effect is
// logged.
RedisReplay::Fate RedisReplay::JudgeHSetEx(Args args) const {
  size_t fields = 2;
  bool sets_deadline = false;
  for (; fields < args.size() && !IsWord(args[fields], "fields"); ++fields) {
    sets_deadline |= IsWord(args[fields], "ex") || IsWord(args[fields], "px") ||
                     IsWord(args[fields], "exat") || IsWord(args[fields], "pxat");
  }
  const bool is_known = fields + 2 <= args.size();
  return is_known && (!sets_deadline || options_.drop_field_deadlines) ? Fate::kHSetEx
                                                                       : Fate::kUnknown;
}

absl::Status RedisReplay::Run(Args args) {
  const Known known = Judge(args);
  switch (known.fate) {
    case Fate::kRuns:
      return RunEntry(*known.entry, args);
    case Fate::kHSetEx: {
      const auto fields = std::find_if(args.begin() + 2, args.end(), [](std::string_view word) {
        return IsWord(word, "fields");
      });
      std::vector<std::string_view> words = {"hset", args[1]};
      words.insert(words.end(), fields + 2, args.end());
      return Run(words);
    }
    case Fate::kNothing:
      return absl::OkStatus();
    case Fate::kUnknown:
      break;
  }
  return NoteUnknown(args);
}

absl::Status RedisReplay::RunEntry(const CommandEntry& entry, Args args) {
  client_.output.Clear();
  options_.follows ? runner_.Follow(client_, entry, args) : runner_.Replay(client_, entry, args);
  if (!IsError(client_.output, 0)) return absl::OkStatus();
  const std::string reply = client_.output.Joined();
  const std::string error = reply.substr(1, reply.find('\r') - 1);
  if (entry.full_name == "select") {
    return absl::FailedPreconditionError(
        StrCat("database ", args[1], " of Redis is not here (see databases): ", error));
  }
  const std::string what = StrCat("command ", entry.full_name, ", which fails here: ", error);
  if (options_.is_strict) return absl::AbortedError(what);
  ++skipped_commands_;
  skipped_.Add(what, client_.database, args.size() > 1 ? args[1] : std::string_view());
  return absl::OkStatus();
}

}  // namespace tally::server
