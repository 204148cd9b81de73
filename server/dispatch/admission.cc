#include "server/dispatch/admission.h"

#include <string_view>

#include "core/bytes/str_cat.h"
#include "server/acl/acl_check.h"
#include "server/acl/acl_guard.h"
#include "server/acl/acl_users.h"
#include "server/command/usage.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/persistence.h"
#include "server/interfaces/replication.h"
#include "server/interfaces/write_refusal.h"
#include "server/memory/evictor.h"
#include "server/state/clock.h"
#include "server/state/pause.h"

namespace tally::server {
namespace {

constexpr std::string_view kReadOnlyError = "READONLY You can't write against a read only replica.";
constexpr std::string_view kMasterDownError =
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.";
constexpr std::string_view kNoReplicasError = "NOREPLICAS Not enough good replicas to write.";
constexpr std::string_view kNoAuthError = "NOAUTH Authentication required.";

// Returns false, so that a caller can `return Refuse(…)`.
bool Refuse(std::string& refusal, std::string_view error) {
  refusal = error;
  return false;
}

}  // namespace

bool Admission::Postpones(const Client& client, const CommandEntry& entry) const {
  if (!server_.pause.active(server_.clock)) [[likely]]
    return false;
  if ((entry.command->flags & kWhilePaused) != 0) return false;
  return server_.pause.holds_reads(server_.clock) ||
         (FlagsOf(client, entry) & (kWrite | kMayReplicate)) != 0;
}

uint32_t Admission::FlagsOf(const Client& client, const CommandEntry& entry) {
  const uint32_t flags = entry.command->flags;
  if (!client.transaction.active || (flags & kRunsQueue) == 0) [[likely]]
    return flags;
  return flags | (client.transaction.flags & (kWrite | kDenyOom | kMayReplicate));
}

bool Admission::Admits(Client& client, const CommandEntry& entry, Args args,
                       std::string& refusal) const {
  if (!client.authenticated && (entry.command->flags & kNoAuth) == 0) [[unlikely]] {
    LoginAsDefault(server_.users, client);
    if (!client.authenticated) {
      const std::string trouble =
          (entry.command->flags & kRefusedWhileUnhealthy) != 0 ? Trouble() : std::string();
      return Refuse(refusal, trouble.empty() ? kNoAuthError : trouble);
    }
  }
  const bool unrestricted = client.acl == nullptr || client.acl->unrestricted;
  if (!unrestricted) [[unlikely]] {
    const std::string_view place = client.transaction.active ? "multi" : "toplevel";
    const AclVerdict verdict = server_.guard.Check(client, entry, args, place);
    if (verdict.denial != AclDenial::kNone) return Refuse(refusal, DenialError(verdict));
  }
  if (server_.config.maxmemory != 0 && !server_.script_busy) {
    server_.evictor.MakeRoom(server_);
    if (server_.evictor.out_of_memory() && !RunsWithoutMemory(client, entry)) {
      return Refuse(refusal, kOutOfMemoryError);
    }
  }
  const uint32_t flags = FlagsOf(client, entry);
  if ((flags & (kWrite | kRefusedWhileUnhealthy)) != 0 && !server_.persistence->accepts_writes())
      [[unlikely]] {
    return Refuse(refusal, WriteRefusal(*server_.persistence));
  }
  if ((flags & kWrite) != 0 && LacksReplicas()) [[unlikely]]
    return Refuse(refusal, kNoReplicasError);
  return AdmitsInState(client, entry, refusal);
}

inline bool Admission::LacksReplicas() const {
  return server_.config.min_replicas_to_write > 0 && !server_.role.is_replica &&
         !server_.replicas->EnoughToWrite();
}

bool Admission::AdmitsInState(const Client& client, const CommandEntry& entry,
                              std::string& refusal) const {
  const uint32_t flags = entry.command->flags;
  if (server_.role.is_replica) [[unlikely]] {
    if ((FlagsOf(client, entry) & kWrite) != 0 && server_.primary->refuses_writes()) {
      return Refuse(refusal, kReadOnlyError);
    }
    const bool is_stale = !server_.role.link_up && !server_.config.replica_serve_stale_data;
    if (is_stale && (flags & kStale) == 0) return Refuse(refusal, kMasterDownError);
  }
  if (server_.loading && (flags & kLoading) == 0) [[unlikely]]
    return Refuse(refusal, kLoadingError);
  const bool only_listens = client.subscribed() && client.reply.protocol() == 2;
  if (only_listens && (flags & kWhileSubscribed) == 0) [[unlikely]] {
    return Refuse(refusal,
                  StrCat("ERR Can't execute '", entry.full_name,
                         "': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
                         "allowed in this context"));
  }
  if (client.transaction.active && (flags & kNoMulti) != 0) [[unlikely]]
    return Refuse(refusal, "ERR Command not allowed inside a transaction");
  if (server_.script_busy && (flags & kAllowBusy) == 0) [[unlikely]]
    return Refuse(refusal, kBusyError);
  constexpr uint32_t kUsesKeys = kWrite | kReadOnly | kMayReplicate;
  // The error is that of Redis.
  if (client.monitor && (flags & kUsesKeys) != 0) [[unlikely]]
    return Refuse(refusal, "ERR Replica can't interact with the keyspace");
  return true;
}

std::string Admission::Trouble() const {
  return server_.loading ? std::string(kLoadingError) : WriteRefusal(*server_.persistence);
}

bool Admission::RunsWithoutMemory(const Client& client, const CommandEntry& entry) {
  if ((FlagsOf(client, entry) & kDenyOom) != 0) return false;
  // Queueing takes memory too.
  return !client.transaction.active || (entry.command->flags & kEndsMulti) != 0;
}

std::string Admission::RefuseInScript(const Client& caller, const CommandEntry* entry, Args args,
                                      const ScriptRights& rights) const {
  const bool lacks_subcommand =
      entry != nullptr && !entry->command->subcommands.empty() && args.size() > 1;
  if (entry == nullptr || lacks_subcommand) return "ERR Unknown Redis command called from script";
  const Command& command = *entry->command;
  if (!ArityFits(command, args.size())) {
    return StrCat("ERR Wrong number of args calling Redis command from script", UsageHint(*entry));
  }
  if ((command.flags & kNoScript) != 0) return "ERR This Redis command is not allowed from script";
  const AclVerdict verdict = server_.guard.Check(caller, *entry, args, "lua");
  if (verdict.denial != AclDenial::kNone) return WordsOf(verdict.denial).script;
  const bool writes = (command.flags & (kWrite | kMayReplicate)) != 0;
  if (writes && !rights.write) return "ERR Write commands are not allowed from read-only scripts.";
  if ((command.flags & kWrite) == 0) return {};
  if (LacksReplicas()) return std::string(kNoReplicasError);
  if (server_.role.is_replica && server_.primary->refuses_writes()) {
    return std::string(kReadOnlyError);
  }
  std::string refusal = WriteRefusal(*server_.persistence);
  if (!refusal.empty()) return refusal;
  if (server_.effects.block_is_full()) {
    return "OOM The effects of this script are too large for the log";
  }
  const bool lacks_memory = (command.flags & kDenyOom) != 0 && server_.evictor.out_of_memory();
  return lacks_memory && !rights.exceed_memory ? std::string(kOutOfMemoryError) : std::string();
}

}  // namespace tally::server
