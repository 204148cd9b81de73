#include "server/module/module.h"

#include <absl/container/inlined_vector.h>

#include <algorithm>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "core/bytes/number.h"
#include "core/words/word.h"
#include "server/commands/families.h"
#include "server/module/call_context.h"
#include "server/module/loan.h"
#include "server/module/module_api.h"

namespace tally::module {
namespace {

using ArgumentViews = absl::InlinedVector<std::string_view, 16>;

ArgumentViews ViewsOf(redis::String** argv, int argc) {
  ArgumentViews views;
  for (redis::String* const argument : std::span(argv, static_cast<size_t>(argc))) {
    size_t size = 0;
    const char* bytes = redis::Functions().StringPtrLen(argument, &size);
    views.emplace_back(bytes, size);
  }
  return views;
}

// Answers the server's question where the keys of a call are.
int TellKeys(redis::Context* context, const server::Command& command, server::Args args) {
  std::vector<server::KeyReference> keys;
  if (!server::FindKeys(command, args, keys)) return redis::kError;
  for (const server::KeyReference& key : keys) {
    redis::Functions().KeyAtPosWithFlags(context, static_cast<int>(key.index),
                                         key.use & static_cast<int>(redis::kKeyUseMask));
  }
  return redis::kOk;
}

// The instant at which an effect was judged, if its words say so: they end with NOW <unix ms>, and
// perhaps KEEP <ms>. The effects of all values that age do.
std::optional<int64_t> InstantOf(server::Args effect) {
  for (const size_t from_end : {size_t{2}, size_t{4}}) {
    if (effect.size() < from_end) break;
    const server::Args last = effect.last(from_end);
    if (IsWord(last[0], "now")) return ParseInt64(last[1]);
  }
  return std::nullopt;
}

}  // namespace

bool Module::IsReplayed(redis::Context* context) {
  const int flags = redis::Functions().GetContextFlags(context);
  if ((flags & redis::kContextReplicated) != 0) return true;
  return (flags & redis::kContextLoading) != 0 && (flags & redis::kContextAsyncLoading) == 0;
}

Module::Module(const ModuleOptions& options, uint64_t seed)
    : engine_(1, seed, zones_),
      commands_(server::NativeFamilies()),
      host_{.engine = engine_,
            .commands = commands_,
            .limits = limits_,
            .effects = effects_,
            .key_events = key_events_,
            .lookups = lookups_,
            .cursors = CursorCode(seed),
            .random = std::mt19937_64(seed)},
      policy_files_(engine_) {
  limits_.quota_retention_ms = options.quota_retention_ms;
  engine_.set_observer(this);
}

void Module::OnExpired(Keyspace&, std::string_view key) {
  effects_.Append(0, {"DEL", key});
  key_events_.Expired(key);
}

int Module::Run(size_t id, redis::Context* context, redis::String** argv, int argc) {
  const server::CommandEntry& entry = commands_.entries()[id];
  const ArgumentViews args = ViewsOf(argv, argc);
  const redis::Api& api = redis::Functions();
  if (api.IsKeysPositionRequest(context) != 0) {
    return TellKeys(context, *entry.command, {args.data(), args.size()});
  }
  if (running_) return api.ReplyWithError(context, "ERR a tally command is running");
  running_ = true;
  RunCall(entry, context, argv, {args.data(), args.size()});
  running_ = false;
  key_events_.Send(context);
  return redis::kOk;
}

void Module::RunCall(const server::CommandEntry& entry, redis::Context* context,
                     redis::String** argv, server::Args args) {
  const redis::Api& api = redis::Functions();
  const server::Command& command = *entry.command;
  const bool writes = (command.flags & server::kWrite) != 0;
  const bool replaying = writes && IsReplayed(context);
  if (command.policy_use != 0 && !replaying &&
      !UserMayUsePolicy(context, argv[1], command.policy_use)) {
    api.ReplyWithError(context,
                       "NOPERM this user has no permissions to access one of the keys used as "
                       "arguments");
    return;
  }
  const int64_t now_ms = clock_.now_ms();
  Keyspace& keyspace = engine_.database(0);
  Loan loan({context, keyspace, types_, now_ms, writes});
  key_events_.Begin(loan);
  keys_.clear();
  if (server::FindKeys(command, args, keys_)) {
    for (const server::KeyReference& key : keys_) loan.Take(argv[key.index], args[key.index]);
  }
  effect_bridge_.Begin(context, {argv, args.size()}, args);
  keyspace.set_expiry(replaying ? Expiry::kIgnore : Expiry::kRemove);
  server::ReplyBuilder reply(output_);
  CallContext call(
      context, host_, reply,
      {.entry = entry, .args = args, .database = 0, .now_ms = now_ms, .replaying = replaying});
  command.handler.Run(call);
  if (replaying) {
    api.ReplicateVerbatim(context);
  } else if (call.changes() > 0 && !call.logged()) {
    effects_.Append(0, args);
  }
  // An effect is of its own instant: what is outdated today may have counted then.
  const std::optional<int64_t> swept_at_ms = replaying ? InstantOf(args) : now_ms;
  if (writes && swept_at_ms) loan.Sweep(*swept_at_ms);
  loan.Return();
  engine_.reclaimer().FreeSome(SIZE_MAX);
  std::string joined;
  reply_bridge_.Send(context, output_.View(joined));
  output_.Clear();
}

}  // namespace tally::module
