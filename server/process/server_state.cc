#include "server/process/server_state.h"

#include <cstdlib>
#include <random>

namespace tally::server {
namespace {

uint64_t RandomKey() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

PersistenceParts PersistencePartsOf(Services& all) {
  return {.commands = all.commands,
          .engine = all.engine,
          .config = all.config,
          .log = all.log,
          .clock = all.clock,
          .stats = all.stats,
          .effects = all.effects,
          .loading = all.loading};
}

ScriptParts ScriptPartsOf(Services& all) {
  return {.commands = all.commands,
          .config = all.config,
          .log = all.log,
          .clock = all.clock,
          .clients = all.clients,
          .tracking = all.tracking,
          .effects = all.effects,
          .stats = all.stats,
          .script_busy = all.script_busy,
          .runner = all.runner,
          .process = all.process};
}

ServerFigures FiguresOf(Services& all) {
  return {.commands = all.commands,
          .engine = all.engine,
          .config = all.config,
          .clock = all.clock,
          .stats = all.stats,
          .clients = all.clients,
          .pubsub = all.pubsub,
          .tracking = all.tracking,
          .blocked = all.blocked,
          .loop = all.loop,
          .hot_keys = all.hot_keys,
          .scripts = all.scripts,
          .memory = all.memory,
          .random = all.host.random,
          .run_id = all.run_id,
          .config_path = all.config_path,
          .loading = all.loading,
          .script_busy = all.script_busy,
          .pause = all.pause,
          .evictor = all.evictor,
          .history = all.history,
          .effects = all.effects,
          .stream_id = all.stream_id,
          .persistence = all.persistence,
          .replicas = all.replicas,
          .primary = all.primary,
          .process = all.process};
}

HttpParts HttpPartsOf(Services& all) {
  return {.commands = all.commands,
          .config = all.config,
          .clock = all.clock,
          .users = all.users,
          .guard = all.guard,
          .clients = all.clients,
          .pubsub = all.pubsub,
          .watches = all.watches,
          .runner = all.runner,
          .site = {.commands = all.commands,
                   .engine = all.engine,
                   .figures = all.figures,
                   .runner = all.runner}};
}

AdminParts AdminPartsOf(Services& all, const ScriptParts& for_scripts) {
  return {
      {AclParts{all.commands, all.config, all.log, all.users, all.acl_log, all.clients},
       ClientParts{all.users, all.clients, all.tracking, all.pause, all.runner},
       ConfigParts{all.config, all.config_path, all.log, all.users, all.stats, all.loop,
                   all.process},
       ConnectionParts{all.users, all.guard, all.clients, all.pubsub, all.watches, all.tracking},
       DatabaseParts{all.clock, all.watches, all.tracking, all.blocked, all.persistence},
       DebugParts{all.config, all.clock, all.active_expire, all.tracking, all.persistence},
       HotKeysParts{all.hot_keys}, IntrospectionParts{all.commands},
       MemoryParts{all.config, all.memory, all.clients, all.hot_keys},
       ObservationParts{all.commands, all.config, all.stats, all.slowlog, all.latency},
       PubSubParts{all.pubsub}, ReplicationParts{all.replicas, all.primary},
       ScriptingParts{all.clock, all.log, all.clients, all.evictor, all.scripts, for_scripts},
       ServerAdminParts{all.figures, all.log, all.clients, all.loading, all.script_busy,
                        all.persistence, all.process},
       TransactionParts{all.guard, all.watches, all.effects, all.runner}},
      all.clock,
      all.blocked};
}

void FollowClock(Services& all, bool jumped) {
  all.engine.set_deletion_lag_ms(all.clock.deletion_lag_ms());
  if (!jumped) return;
  const int64_t ms = all.clock.jumps().last_ms;
  all.log.Warning("The system's clock was set ", ms > 0 ? "forward" : "back", " by ", std::abs(ms),
                  " ms, against the time that has passed");
}

}  // namespace

OwnedServices::OwnedServices(const CommandTable& commands, Engine& engine, Config& config,
                             const Logger& log)
    : users(commands, config),
      guard(users, acl_log, clock, config),
      stats(commands.entries().size()),
      clients(config),
      tracking(clients, config, RandomKey()),
      hot_keys(RandomKey()),
      troubles(log),
      evictor({.engine = engine,
               .config = config,
               .clock = clock,
               .stats = stats,
               .effects = effects,
               .key_events = key_events,
               .memory = memory,
               .trouble = troubles.memory,
               .loading = loading,
               .pause = pause,
               .persistence = persistence}),
      host{.engine = engine,
           .commands = commands,
           .limits = config,
           .effects = effects,
           .key_events = key_events,
           .lookups = stats.lookups,
           .cursors = CursorCode(RandomKey()),
           .random = std::mt19937_64(RandomKey())} {}

ServerState::ServerState(const CommandTable& commands_in, Engine& engine_in, Config& config_in,
                         Logger& log_in)
    : OwnedServicesBase{OwnedServices(commands_in, engine_in, config_in, log_in)},
      Services{.commands = commands_in,
               .engine = engine_in,
               .config = config_in,
               .log = log_in,
               .troubles = owned.troubles,
               .users = owned.users,
               .acl_log = owned.acl_log,
               .guard = owned.guard,
               .clock = owned.clock,
               .stats = owned.stats,
               .clients = owned.clients,
               .pubsub = owned.pubsub,
               .watches = owned.watches,
               .tracking = owned.tracking,
               .blocked = owned.blocked,
               .key_events = owned.key_events,
               .effects = owned.effects,
               .stream_id = owned.stream_id,
               .slowlog = owned.slowlog,
               .latency = owned.latency,
               .loop = owned.loop,
               .hot_keys = owned.hot_keys,
               .memory = owned.memory,
               .evictor = owned.evictor,
               .history = owned.history,
               .host = owned.host,
               .loading = owned.loading,
               .pause = owned.pause,
               .persistence = owned.persistence,
               .replicas = owned.replicas,
               .primary = owned.primary,
               .figures = figures_,
               .admin = admin_,
               .http = http_,
               .run_id = {},
               .config_path = {},
               .scripts = {}},
      for_persistence(PersistencePartsOf(*this)),
      for_scripts_(ScriptPartsOf(*this)),
      figures_(FiguresOf(*this)),
      admin_(AdminPartsOf(*this, for_scripts_)),
      http_(HttpPartsOf(*this)) {
  clock.set_watcher([this](bool jumped) { FollowClock(*this, jumped); });
}

}  // namespace tally::server
