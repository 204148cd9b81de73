// CONFIG: the settings of a running server.
#include "server/config/config.h"

#include <string>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/acl/acl_users.h"
#include "server/admin/families.h"
#include "server/admin/server_context.h"
#include "server/command/help.h"
#include "server/config/config_command.h"
#include "server/config/config_file.h"
#include "server/interfaces/process.h"
#include "server/log/log.h"
#include "server/state/loop_stats.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

void ConfigGetCommand(ServerContext& context, Services& server) {
  const auto values = ConfigGet(server.config, context.args.subspan(2));
  context.reply.Map(values.size());
  for (const auto& [name, value] : values) {
    context.reply.Bulk(name);
    context.reply.Bulk(value);
  }
}

// Puts the new values into effect. If one of them fails, all directives get their old values back.
void Apply(ServerContext& context, Services& server, ConfigChange change) {
  Config& config = server.config;
  Process& process = *server.process;
  const Config before = std::exchange(config, std::move(change.config));
  for (size_t i = 0; i < change.touched.size(); ++i) {
    const std::string_view name = change.touched[i]->name;
    const absl::Status status = process.ApplyConfig(name);
    if (status.ok()) continue;
    config = before;
    for (size_t j = 0; j <= i; ++j) {
      const absl::Status undone = process.ApplyConfig(change.touched[j]->name);
      if (!undone.ok()) {
        server.log.Warning("The setting ", change.touched[j]->name,
                           " could not be restored: ", std::string(undone.message()));
      }
    }
    return context.reply.Error(
        StrCat("ERR ", ConfigSetFailure(name, std::string(status.message()))));
  }
  context.reply.Ok();
}

void ConfigSetCommand(ServerContext& context, Services& server) {
  const Args pairs = context.args.subspan(2);
  if (pairs.size() % 2 != 0) return context.reply.Error(kSyntaxError);
  auto change = ConfigSet(server.config, pairs);
  if (!change.ok()) {
    return context.reply.Error(StrCat("ERR ", std::string(change.status().message())));
  }
  Apply(context, server, *std::move(change));
}

void ConfigRewrite(ServerContext& context, Services& server) {
  if (server.config_path.empty()) {
    return context.reply.Error("ERR The server is running without a config file");
  }
  Config written = server.config;
  // Users are in the configuration file, unless they have a file of their own.
  if (written.aclfile.empty()) {
    written.users = server.users.ConfigLines();
    // A line of the default user has its password; another one beside it would keep the server from
    // starting.
    if (!server.users.DefaultNeeds(written.requirepass)) written.requirepass.clear();
  }
  const absl::Status status = RewriteConfigFile(server.config_path, written);
  if (!status.ok()) {
    server.log.Warning("CONFIG REWRITE failed: ", std::string(status.message()));
    return context.reply.Error(
        StrCat("ERR Rewriting config file: ", std::string(status.message())));
  }
  server.log.Notice("CONFIG REWRITE executed with success.");
  context.reply.Ok();
}

void ConfigResetStat(ServerContext& context, Services& server) {
  server.stats.Reset();
  server.stats.reset_ms = context.now_ms;
  server.loop.Reset();
  context.reply.Ok();
}

void ConfigHelp(ServerContext& context) {
  constexpr std::string_view kLines[] = {
      "GET <pattern>",
      "    Return parameters matching the glob-like <pattern> and their values.",
      "SET <directive> <value>",
      "    Set the configuration <directive> to <value>.",
      "RESETSTAT",
      "    Reset statistics reported by the INFO command.",
      "REWRITE",
      "    Rewrite the configuration file.",
  };
  ReplyHelp(context, kLines);
}

// The secret words of CONFIG SET name value …: the values of directives such as requirepass.
bool IsSecretValue(Args args, size_t index) {
  if (index < 3 || index % 2 == 0) return false;
  const Directive* const directive = FindDirective(args[index - 1]);
  return directive != nullptr && directive->Is(kSensitive);
}

constexpr uint32_t kConfigure = kOperator | kAnyTime;

constexpr Command kConfigSubcommands[] = {
    {"get", Serve<ConfigGetCommand>, -3, kConfigure, kNoKeys,
     "Returns the effective values of configuration parameters.", "2.0.0",
     "parameter(parameter)..."},
    {"help", ConfigHelp, 2, kAnyTime, kNoKeys, "Returns helpful text about the subcommands.",
     "5.0.0"},
    {"resetstat", Serve<ConfigResetStat>, 2, kConfigure, kNoKeys, "Resets the server's statistics.",
     "2.0.0"},
    {"rewrite", Serve<ConfigRewrite>, 2, kConfigure, kNoKeys,
     "Persists the effective configuration to file.", "2.8.0"},
    {.name = "set",
     .handler = Serve<ConfigSetCommand>,
     .arity = -4,
     .flags = kConfigure,
     .keys = kNoKeys,
     .summary = "Sets configuration parameters in-flight.",
     .since = "2.0.0",
     .arguments = "parameter_value(parameter value)...",
     .is_secret = IsSecretValue},
};

constexpr Command kConfigCommands[] = {
    {"config", nullptr, -2, 0, kNoKeys, "A container for server configuration commands.", "2.0.0",
     "", kConfigSubcommands},
};

}  // namespace

std::span<const Command> ConfigCommands() { return kConfigCommands; }

}  // namespace tally::server
