// Replication: who follows whom, what has arrived where, and the commands with which replicas ask
// for the stream.
#include "server/interfaces/replication.h"

#include <string>
#include <string_view>
#include <utility>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"

namespace tally::server {
namespace {

std::string_view LinkWord(PrimaryState::Link link) {
  switch (link) {
    case PrimaryState::Link::kConnect:
      return "connect";
    case PrimaryState::Link::kConnecting:
      return "connecting";
    case PrimaryState::Link::kHandshake:
      return "handshake";
    case PrimaryState::Link::kSync:
      return "sync";
    case PrimaryState::Link::kConnected:
      return "connected";
  }
  return "none";
}

void RoleOfReplica(ServerContext& context, const PrimaryState& state) {
  const bool connected = state.link == PrimaryState::Link::kConnected;
  context.reply.Array(5);
  context.reply.Bulk("slave");
  context.reply.Bulk(state.host);
  context.reply.Integer(state.port);
  context.reply.Bulk(LinkWord(state.link));
  context.reply.Integer(connected ? static_cast<int64_t>(state.offset) : -1);
}

void Role(ServerContext& context, Services& server) {
  if (server.primary->is_replica()) return RoleOfReplica(context, server.primary->state());
  ReplicasState state = server.replicas->state();
  std::erase_if(state.replicas, [](const ReplicaState& replica) {
    return replica.stage != ReplicaState::Stage::kOnline;
  });
  context.reply.Array(3);
  context.reply.Bulk("master");
  context.reply.Integer(static_cast<int64_t>(server.replicas->offset()));
  context.reply.Array(state.replicas.size());
  for (const ReplicaState& replica : state.replicas) {
    context.reply.Array(3);
    context.reply.Bulk(replica.ip);
    context.reply.Bulk(Int64Text(replica.port).view());
    context.reply.Bulk(StrCat(replica.offset));
  }
}

void ReplicaOf(ServerContext& context, Services& server) {
  if (server.replicas->state().failover != "no-failover") {
    const bool is_told =
        server.primary->is_replica() && server.primary->state().handover_unanswered;
    if (!is_told) return context.reply.Error("ERR REPLICAOF not allowed while failing over.");
    server.replicas->AbortFailover();
  }
  if (IsWord(context.args[1], "no") && IsWord(context.args[2], "one")) {
    server.primary->StopFollowing();
    return context.reply.Ok();
  }
  const auto port = ParseInt64(context.args[2]);
  if (!port || *port < 0 || *port > 65535) return context.reply.Error("ERR Invalid master port");
  const std::string host(context.args[1]);
  if (server.primary->is_replica()) {
    const PrimaryState state = server.primary->state();
    if (state.host == host && state.port == *port) {
      return context.reply.Status("OK Already connected to specified master");
    }
  }
  server.primary->Follow(host, *port, PrimaryLink::Handover::kNo);
  context.reply.Ok();
}

// Acknowledgements are never answered, and only those of replicas count.
void ReplConf(ServerContext& context, Services& server) {
  const Args args = context.args;
  if (args.size() % 2 == 0) return context.reply.Error(kSyntaxError);
  for (size_t i = 1; i < args.size(); i += 2) {
    if (IsWord(args[i], "ack")) {
      const auto offset = ParseInt64(args[i + 1]);
      if (offset && *offset >= 0) {
        server.replicas->Acknowledge(context.client, static_cast<uint64_t>(*offset));
      }
      return;
    }
    if (IsWord(args[i], "getack")) return;
    if (context.client.is_replica) {
      return server.replicas->Refuse(context.client, "it says who it is in the middle of its data");
    }
    const std::string error = server.replicas->Configure(context.client, args[i], args[i + 1]);
    if (!error.empty()) return context.reply.Error(error);
  }
  context.reply.Ok();
}

void PSync(ServerContext& context, Services& server) {
  const auto next = context.Int64Arg(2);
  if (!next) return;
  SyncRequest request{.id = context.args[1], .next = *next};
  if (context.args.size() > 3) {
    request.takes_over = IsWord(context.args[3], "failover");
    request.by_force = context.args.size() > 4 && IsWord(context.args[4], "force");
    if (!request.takes_over || context.args.size() > (request.by_force ? 5 : 4)) {
      return context.reply.Error(kSyntaxError);
    }
  }
  server.replicas->Synchronize(context.client, request);
}

void Sync(ServerContext& context, Services& server) {
  server.replicas->Synchronize(context.client, {.id = "?", .next = -1, .by_sync = true});
}

void Wait(ServerContext& context, Services& server) {
  if (server.primary->is_replica()) {
    return context.reply.Error(
        "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if "
        "a replica is configured to be writable (which is not the default) writes to replicas are "
        "just local and are not propagated.");
  }
  const auto replicas = context.Int64Arg(1);
  if (!replicas) return;
  const auto timeout_ms = context.Int64Arg(2, "ERR timeout is not an integer or out of range");
  if (!timeout_ms) return;
  if (*timeout_ms < 0) return context.reply.Error("ERR timeout is negative");
  const uint64_t offset = context.client.written_to;
  const auto have = static_cast<int64_t>(server.replicas->Acknowledged(offset));
  if (have >= *replicas) return context.reply.Integer(have);
  if (!context.WaitForReplicas(static_cast<size_t>(*replicas), offset, *timeout_ms)) {
    return context.reply.Integer(have);
  }
  server.replicas->AskForAcknowledgements();
}

// Reads the option at `i`, and moves `i` to its last word. Returns false after an error reply.
bool ReadFailoverOption(ServerContext& context, size_t& i, FailoverRequest& request) {
  const Args args = context.args;
  if (IsWord(args[i], "timeout") && i + 1 < args.size() && !request.timeout_ms) {
    request.timeout_ms = context.Int64Arg(++i);
    if (!request.timeout_ms) return false;
    if (*request.timeout_ms > 0) return true;
    context.reply.Error("ERR FAILOVER timeout must be greater than 0");
    return false;
  }
  if (IsWord(args[i], "to") && i + 2 < args.size() && request.host.empty()) {
    const auto port = context.Int64Arg(i + 2);
    if (!port) return false;
    request.host = args[i + 1];
    request.port = *port;
    i += 2;
    return true;
  }
  if (IsWord(args[i], "force") && !request.force) return request.force = true;
  context.reply.Error(kSyntaxError);
  return false;
}

void FailOver(ServerContext& context, Services& server) {
  const Args args = context.args;
  std::string error;
  if (args.size() == 2 && IsWord(args[1], "abort")) {
    error = server.replicas->AbortFailover();
  } else {
    FailoverRequest request;
    for (size_t i = 1; i < args.size(); ++i) {
      if (!ReadFailoverOption(context, i, request)) return;
    }
    error = server.replicas->StartFailover(request);
  }
  error.empty() ? context.reply.Ok() : context.reply.Error(error);
}

constexpr uint32_t kReplConf = kOperator | kAnyTime | kAllowBusy | kFromReplica | kConnection;

constexpr Command kReplicationCommands[] = {
    {"failover", Serve<FailOver>, -1, kOperator | kStale, kNoKeys,
     "Starts a coordinated failover from a server to one of its replicas.", "6.2.0",
     "[TO target(host port:int [FORCE])] [ABORT] [TIMEOUT milliseconds:int]"},
    {"psync", Serve<PSync>, -3, kOperator | kNoMulti | kConnection, kNoKeys,
     "An internal command used in replication.", "2.8.0", "replicationid offset:int"},
    {"replconf", Serve<ReplConf>, -1, kReplConf, kNoKeys,
     "An internal command for configuring the replication stream.", "3.0.0"},
    {"replicaof", Serve<ReplicaOf>, 3, kOperator | kStale, kNoKeys,
     "Configures a server as replica of another, or promotes it to a master.", "5.0.0",
     "args<host-port(host port:int)|no-one(NO ONE)>"},
    {"role", Serve<Role>, 1, kOperator | kAnyTime | kFast, kNoKeys, "Returns the replication role.",
     "2.8.12"},
    {"slaveof", Serve<ReplicaOf>, 3, kOperator | kStale, kNoKeys,
     "Sets a Redis server as a replica of another, or promotes it to being a master.", "1.0.0",
     "args<host-port(host port:int)|no-one(NO ONE)>"},
    {"sync", Serve<Sync>, 1, kOperator | kNoMulti | kConnection, kNoKeys,
     "An internal command used in replication.", "1.0.0"},
};

constexpr Command kWaitCommands[] = {
    {"wait", Serve<Wait>, 3, kNoScript | kConnection, kNoKeys,
     "Blocks until the asynchronous replication of all preceding write commands sent by the "
     "connection is completed.",
     "3.0.0", "numreplicas:int timeout:int"},
};

}  // namespace

std::span<const Command> ReplicationCommands() { return kReplicationCommands; }
std::span<const Command> WaitCommands() { return kWaitCommands; }

}  // namespace tally::server
