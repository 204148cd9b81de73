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
                         rdb::SkippedValues& skipped, bool drop_field_deadlines)
    : commands_(commands),
      runner_(runner),
      skipped_(skipped),
      drop_field_deadlines_(drop_field_deadlines) {
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

void RedisReplay::NoteUnknown(Args args) {
  const std::string_view key = args.size() > 1 ? args[1] : std::string_view();
  const std::string name = ToLower(args[0]);
  skipped_.Add(StrCat("command ", name, ", which is not known here"), client_.database, key);
}

// HSETEX key [condition] [deadline] FIELDS count field value ...; only what had an effect is
// logged.
absl::Status RedisReplay::RunHSetEx(Args args) {
  size_t fields = 2;
  bool sets_deadline = false;
  for (; fields < args.size() && !IsWord(args[fields], "fields"); ++fields) {
    sets_deadline |= IsWord(args[fields], "ex") || IsWord(args[fields], "px") ||
                     IsWord(args[fields], "exat") || IsWord(args[fields], "pxat");
  }
  if (fields + 2 > args.size() || (sets_deadline && !drop_field_deadlines_)) {
    NoteUnknown(args);
    return absl::OkStatus();
  }
  std::vector<std::string_view> words = {"hset", args[1]};
  words.insert(words.end(), args.begin() + static_cast<ptrdiff_t>(fields) + 2, args.end());
  return Run(words);
}

absl::Status RedisReplay::Run(Args args) {
  // A log has the names that clients use.
  const CommandEntry* item = commands_.Resolve(args);
  if (item == nullptr) item = commands_.FindFullName(args[0]);
  const bool known = item != nullptr && item->command->handler != nullptr;
  if (!known && SetsFieldDeadlines(args[0])) {
    if (!drop_field_deadlines_) NoteUnknown(args);
    return absl::OkStatus();
  }
  if (!known && IsWord(args[0], "hsetex")) return RunHSetEx(args);
  // A log holds what has changed something, and which database it was in.
  const bool belongs = known && ((item->command->flags & kWrite) != 0 ||
                                 item->full_name == "select" || item->full_name == "policy.set");
  if (!belongs || !ArityFits(*item->command, args.size())) {
    NoteUnknown(args);
    return absl::OkStatus();
  }
  client_.output.Clear();
  runner_.Replay(client_, *item, args);
  if (!IsError(client_.output, 0)) return absl::OkStatus();
  const std::string reply = client_.output.Joined();
  const std::string error = reply.substr(1, reply.find('\r') - 1);
  if (item->full_name == "select") {
    return absl::FailedPreconditionError(
        StrCat("database ", args[1], " of Redis is not here (see databases): ", error));
  }
  skipped_.Add(StrCat("command ", item->full_name, ", which fails here: ", error), client_.database,
               args.size() > 1 ? args[1] : std::string_view());
  return absl::OkStatus();
}

}  // namespace tally::server
