// What clients and tools ask of any server: its cluster, its modules. This one has none of them.
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"

namespace tally::server {
namespace {

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

constexpr Command kModuleSubcommands[] = {
    {"help", ModuleHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "5.0.0"},
    {"list", ModuleList, 2, kOperator, kNoKeys, "Returns all loaded modules: there are none.",
     "4.0.0"},
};

constexpr Command kStandaloneCommands[] = {
    {"module", nullptr, -2, 0, kNoKeys, "A container for module commands.", "4.0.0", "",
     kModuleSubcommands},
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

}  // namespace

std::span<const Command> StandaloneCommands() { return kStandaloneCommands; }
std::span<const Command> ClusterCommands() { return kClusterCommands; }
std::span<const Command> ClusterClientCommands() { return kClusterClientCommands; }

}  // namespace tally::server
