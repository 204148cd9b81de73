// What clients and tools ask of any server: its primary, its replicas, its cluster, its modules.
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"
#include "server/interfaces/replication.h"

namespace tally::server {
namespace {

// The names of the stages of a link are those of Redis.
std::string_view LinkName(PrimaryState::Link link) {
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
      break;
  }
  return "connected";
}

void Role(ServerContext& context, const ReplicationParts& server) {
  if (server.primary->is_replica()) {
    const PrimaryState primary = server.primary->state();
    context.reply.Array(5);
    context.reply.Bulk("slave");
    context.reply.Bulk(primary.host);
    context.reply.Integer(primary.port);
    context.reply.Bulk(LinkName(primary.link));
    return context.reply.Integer(static_cast<int64_t>(primary.offset));
  }
  context.reply.Array(3);
  context.reply.Bulk("master");
  context.reply.Integer(0);
  context.reply.Array(0);
}

void ReplicaOf(ServerContext& context, const ReplicationParts& server) {
  const std::string host(context.args[1]);
  if (IsWord(host, "no") && IsWord(context.args[2], "one")) {
    server.primary->StopFollowing();
    return context.reply.Ok();
  }
  const auto port = context.Int64Arg(2, "ERR Invalid master port");
  if (!port) return;
  if (*port < 0 || *port > 65535) return context.reply.Error("ERR Invalid master port");
  if (server.primary->is_replica()) {
    const PrimaryState now = server.primary->state();
    if (now.host == host && now.port == *port) {
      return context.reply.Status("OK Already connected to specified master");
    }
  }
  server.primary->Follow(host, *port, PrimaryLink::Handover::kNo);
  context.reply.Ok();
}

// No replica has anything, and none will come: there is nothing to wait for.
void Wait(ServerContext& context) {
  if (!context.Int64Arg(1)) return;
  const auto timeout = context.Int64Arg(2, "ERR timeout is not an integer or out of range");
  if (!timeout) return;
  if (*timeout < 0) return context.reply.Error("ERR timeout is negative");
  context.reply.Integer(0);
}

void NoCluster(ServerContext& context) {
  context.reply.Error("ERR This instance has cluster support disabled");
}

void ModuleList(ServerContext& context) { context.reply.Array(0); }

void ModuleHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "LIST",
      "    Return a list of loaded modules.",
  };
  ReplyHelp(context, kLines);
}

constexpr KeyRange kNoKeys;
constexpr uint32_t kOperator = kAdmin | kDangerous | kNoScript;
constexpr uint32_t kAnyTime = kLoading | kStale;

constexpr Command kModuleSubcommands[] = {
    {"help", ModuleHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "5.0.0"},
    {"list", ModuleList, 2, kOperator, kNoKeys, "Returns all loaded modules: there are none.",
     "4.0.0"},
};

constexpr Command kServerCommands[] = {
    {"module", nullptr, -2, 0, kNoKeys, "A container for module commands.", "4.0.0", "",
     kModuleSubcommands},
    {"replicaof", Serve<ReplicaOf>, 3, kOperator | kStale, kNoKeys,
     "Follows another server as its replica, or none any more.", "5.0.0",
     "args<host-port(host port:int)|no-one(NO ONE)>"},
    {"role", Serve<Role>, 1, kAdmin | kDangerous | kNoScript | kLoading | kStale | kFast, kNoKeys,
     "Returns the replication role.", "2.8.12"},
    {"slaveof", Serve<ReplicaOf>, 3, kOperator | kStale, kNoKeys,
     "Follows another server as its replica, or none any more.", "1.0.0",
     "args<host-port(host port:int)|no-one(NO ONE)>"},
};

constexpr Command kClusterCommands[] = {
    {"cluster", NoCluster, -2, kStale, kNoKeys, "Tells that there is no cluster.", "3.0.0"},
};

constexpr Command kClusterClientCommands[] = {
    {"asking", NoCluster, 1, kFast, kNoKeys, "Signals a redirection by a cluster: there is none.",
     "3.0.0"},
    {"readonly", NoCluster, 1, kAnyTime | kFast, kNoKeys,
     "Enables read-only queries on a replica of a cluster: there is none.", "3.0.0"},
    {"readwrite", NoCluster, 1, kAnyTime | kFast, kNoKeys,
     "Enables read-write queries on a replica of a cluster: there is none.", "3.0.0"},
};

constexpr Command kReplicationCommands[] = {
    {"wait", Wait, 3, kNoScript, kNoKeys, "Returns the number of replicas that have all writes: 0.",
     "3.0.0", "numreplicas:int timeout:int"},
};

}  // namespace

std::span<const Command> StandaloneCommands() { return kServerCommands; }
std::span<const Command> ClusterCommands() { return kClusterCommands; }
std::span<const Command> ClusterClientCommands() { return kClusterClientCommands; }
std::span<const Command> ReplicationCommands() { return kReplicationCommands; }

}  // namespace tally::server
