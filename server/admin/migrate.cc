// MIGRATE: moves keys to another server. The client waits while its keys are sent; everybody else
// is served, and may change the keys. So before a key is removed here, it is compared with what
// was sent of it: if it has changed, it is sent again.
#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/interfaces/migrations.h"
#include "server/rdb/dump_payload.h"
#include "server/resp/resp_command.h"

namespace tally::server {
namespace {

// After this many changes meanwhile, the keys stay here.
constexpr size_t kMostRounds = 16;
constexpr size_t kFirstOption = 6;

struct MigrateOptions {
  bool copy = false;
  bool replace = false;
  std::optional<std::string_view> user;
  std::optional<std::string_view> password;
  Args keys;
};

// How many words belong to an option, itself not counted; nothing if the word is none.
std::optional<size_t> OptionWords(std::string_view word) {
  if (IsWord(word, "copy") || IsWord(word, "replace")) return 0;
  if (IsWord(word, "auth")) return 1;
  return IsWord(word, "auth2") ? std::optional<size_t>(2) : std::nullopt;
}

bool FindMigratedKeys(Args args, std::vector<KeyReference>& keys) {
  if (!args[3].empty()) {
    keys.push_back({3});
    return true;
  }
  for (size_t i = kFirstOption; i < args.size(); ++i) {
    if (IsWord(args[i], "keys")) {
      for (size_t key = i + 1; key < args.size(); ++key) keys.push_back({key});
      return true;
    }
    i += OptionWords(args[i]).value_or(0);
  }
  keys.push_back({3});
  return true;
}

bool IsMigrateSecret(Args args, size_t index) {
  for (size_t i = kFirstOption; i < args.size() && !IsWord(args[i], "keys"); ++i) {
    const size_t words = OptionWords(args[i]).value_or(0);
    if (words > 0 && index > i && index <= i + words) return true;
    i += words;
  }
  return false;
}

// Returns nothing after an error reply.
std::optional<MigrateOptions> ParseOptions(CommandContext& context) {
  MigrateOptions options;
  options.keys = context.args.subspan(3, 1);
  for (size_t i = kFirstOption; i < context.args.size(); ++i) {
    const std::string_view word = context.args[i];
    if (IsWord(word, "keys")) {
      if (!context.args[3].empty()) {
        context.reply.Error(
            "ERR When using MIGRATE KEYS option, the key argument must be set to the empty string");
        return std::nullopt;
      }
      options.keys = context.args.subspan(i + 1);
      break;
    }
    const auto words = OptionWords(word);
    if (!words || i + *words >= context.args.size()) {
      context.reply.Error(kSyntaxError);
      return std::nullopt;
    }
    options.copy |= IsWord(word, "copy");
    options.replace |= IsWord(word, "replace");
    if (*words == 2) options.user = context.args[i + 1];
    if (*words > 0) options.password = context.args[i + *words];
    i += *words;
  }
  return options;
}

uint64_t ChecksumOf(std::string_view payload) {
  uint64_t checksum = 0;
  std::memcpy(&checksum, payload.data() + payload.size() - sizeof checksum, sizeof checksum);
  return checksum;
}

// The deadline goes as an instant, so that the way does not lengthen it.
void SendKey(const Keyspace::Entry& entry, bool replace, MigrationBatch& batch) {
  const std::string payload = rdb::DumpPayload(entry);
  const int64_t deadline_ms = entry.deadline_ms();
  const Int64Text instant(deadline_ms == kNoDeadline ? 0 : std::max<int64_t>(deadline_ms, 1));
  std::vector<std::string_view> words = {"RESTORE", entry.key(), instant.view(), payload, "ABSTTL"};
  if (replace) words.emplace_back("REPLACE");
  AppendRespCommand(batch.commands, words);
  batch.keys.push_back({.key = std::string(entry.key()),
                        .checksum = ChecksumOf(payload),
                        .deadline_ms = deadline_ms});
}

MigrationTarget TargetOf(const CommandContext& context, const MigrateOptions& options,
                         int64_t database, int64_t timeout_ms) {
  MigrationTarget target;
  target.host = context.args[1];
  if (!ReadInt64(context.args[2], target.port)) target.port = 0;
  target.timeout_ms = timeout_ms <= 0 ? 1000 : timeout_ms;
  if (options.password) {
    std::vector<std::string_view> words = {"AUTH"};
    if (options.user) words.push_back(*options.user);
    words.push_back(*options.password);
    AppendRespCommand(target.login, words);
  }
  const Int64Text number(database);
  AppendRespCommand(target.login, std::vector<std::string_view>{"SELECT", number.view()});
  target.logins = options.password ? 2 : 1;
  return target;
}

void Begin(ServerContext& context, Migrations& migrations) {
  const auto options = ParseOptions(context);
  if (!options) return;
  const auto timeout_ms = context.Int64Arg(5);
  if (!timeout_ms) return;
  const auto database = context.Int64Arg(4);
  if (!database) return;
  MigrationBatch batch;
  for (const std::string_view key : options->keys) {
    if (const Keyspace::Entry entry = context.Find(key)) {
      SendKey(entry, options->replace, batch);
    }
  }
  if (batch.keys.empty()) return context.reply.Status("NOKEY");
  if (!context.WaitFor(Type::kString, {}, 0)) {
    return context.reply.Error(
        "ERR MIGRATE waits for another server: not in a transaction or a "
        "script");
  }
  migrations.Begin(context.client, TargetOf(context, *options, *database, *timeout_ms),
                   std::move(batch));
}

// Whether the key is as it was sent.
bool IsAsSent(const Keyspace::Entry& entry, const SentKey& sent) {
  if (!entry || sent.erased) return !entry && sent.erased;
  return entry.deadline_ms() == sent.deadline_ms &&
         ChecksumOf(rdb::DumpPayload(entry)) == sent.checksum;
}

// Removes what has arrived. What has changed meanwhile is in `again`, with what it is now.
void RemoveArrived(ServerContext& context, const MigrationResult& result, MigrationBatch& again) {
  std::vector<std::string_view> removed = {"DEL"};
  for (size_t i = 0; i < result.answers.size(); ++i) {
    const SentKey& sent = result.keys[i];
    if (result.answers[i].is_error) continue;
    const Keyspace::Entry entry = context.FindForWrite(sent.key);
    if (!IsAsSent(entry, sent)) {
      if (entry) {
        SendKey(entry, true, again);
      } else {
        AppendRespCommand(again.commands, std::vector<std::string_view>{"DEL", sent.key});
        again.keys.push_back({.key = sent.key, .erased = true});
      }
    } else if (entry) {
      context.Remove(entry);
      removed.push_back(sent.key);
    }
  }
  if (removed.size() > 1) context.LogInstead(removed);
}

// The first error of the other server, empty if there was none.
std::string ErrorOf(const MigrationResult& result) {
  if (!result.login_error.empty()) return result.login_error;
  for (const MigrationResult::Answer& answer : result.answers) {
    if (answer.is_error) return answer.text;
  }
  return {};
}

void Finish(ServerContext& context, Migrations& migrations, const MigrationResult& result) {
  const auto options = ParseOptions(context);
  if (!options) return;
  MigrationBatch again;
  if (!options->copy) RemoveArrived(context, result, again);
  const std::string error = ErrorOf(result);
  if (!error.empty()) {
    return context.reply.Error(StrCat("ERR Target instance replied with error: ", error));
  }
  if (!result.failure.empty()) {
    return context.reply.Error(StrCat("IOERR error or timeout ", result.failure));
  }
  if (again.keys.empty()) return context.reply.Ok();
  if (result.rounds < kMostRounds && context.WaitFor(Type::kString, {}, 0)) {
    return migrations.Continue(context.client, std::move(again));
  }
  context.reply.Error(StrCat("IOERR ", again.keys.size(),
                             " keys change faster than they can be moved, and stay here too"));
}

void Migrate(ServerContext& context, Services& server) {
  Migrations& migrations = *server.migrations;
  if (const auto result = migrations.Take(context.client)) {
    Finish(context, migrations, *result);
  } else {
    Begin(context, migrations);
  }
}

constexpr Command kMigrationCommands[] = {
    {.name = "migrate",
     .handler = Serve<Migrate>,
     .arity = -6,
     .flags = kWrite | kDangerous | kMovableKeys,
     .keys = {3, 3, 1, kTakesFromKey},
     .summary = "Atomically transfers keys to another server.",
     .since = "2.6.0",
     .arguments = "host port:int key_or_empty_string<key#0|empty_string=> destination-db:int "
                  "timeout:int [COPY@3.0.0] [REPLACE@3.0.0] "
                  "[authentication<[AUTH password@4.0.7]|"
                  "[AUTH2 username_password@6.0.0(username password)]>] [KEYS key#1@3.0.6 ...]",
     .find_keys = FindMigratedKeys,
     .is_secret = IsMigrateSecret},
};

}  // namespace

std::span<const Command> MigrationCommands() { return kMigrationCommands; }

}  // namespace tally::server
