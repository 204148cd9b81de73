#include "server/server_state.h"

#include <random>

namespace tally::server {
namespace {

uint64_t RandomKey() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

}  // namespace

OwnedServices::OwnedServices(Services& services, const CommandTable& commands, Engine& engine,
                             Config& config)
    : users(commands, config),
      guard(users, acl_log, clock, config),
      stats(commands.items().size()),
      clients(config),
      hot_keys(RandomKey()),
      evictor(services),
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
    : OwnedServicesBase{OwnedServices(*this, commands_in, engine_in, config_in)},
      Services{.commands = commands_in,
               .engine = engine_in,
               .config = config_in,
               .log = log_in,
               .users = owned.users,
               .acl_log = owned.acl_log,
               .guard = owned.guard,
               .clock = owned.clock,
               .stats = owned.stats,
               .clients = owned.clients,
               .pubsub = owned.pubsub,
               .watches = owned.watches,
               .key_events = owned.key_events,
               .effects = owned.effects,
               .slowlog = owned.slowlog,
               .latency = owned.latency,
               .loop = owned.loop,
               .hot_keys = owned.hot_keys,
               .memory = owned.memory,
               .evictor = owned.evictor,
               .host = owned.host,
               .run_id = {},
               .config_path = {},
               .pause = {},
               .scripts = {}} {}

}  // namespace tally::server
