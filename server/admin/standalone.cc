// What clients and tools ask of any server: its replicas, its cluster, its modules. This one has
// none of them.
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"

namespace tally::server {
namespace {

void Role(ServerContext& context) {
  context.reply.Array(3);
  context.reply.Bulk("master");
  context.reply.Integer(0);
  context.reply.Array(0);
}

// There is no replication: only REPLICAOF NO ONE succeeds.
void ReplicaOf(ServerContext& context) {
  if (IsWord(context.args[1], "no") && IsWord(context.args[2], "one")) return context.reply.Ok();
  context.reply.Error("ERR tallyd does not replicate");
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
    {"replicaof", ReplicaOf, 3, kOperator | kStale, kNoKeys,
     "Accepts NO ONE only: there is no replication.", "5.0.0",
     "args<host-port(host port:int)|no-one(NO ONE)>"},
    {"role", Role, 1, kAdmin | kDangerous | kNoScript | kLoading | kStale | kFast, kNoKeys,
     "Returns the replication role.", "2.8.12"},
    {"slaveof", ReplicaOf, 3, kOperator | kStale, kNoKeys,
     "Accepts NO ONE only: there is no replication.", "1.0.0",
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
