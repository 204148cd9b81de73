#include "server/process/server_state.h"

#include <cstdlib>
#include <random>

namespace tally::server {
namespace {

uint64_t RandomKey() {
  std::random_device device;
  return uint64_t{device()} << 32 | device();
}

void FollowClock(const Services& all, bool jumped) {
  all.engine.set_deletion_lag_ms(all.clock.deletion_lag_ms());
  if (!jumped) return;
  Evictor::ApplyConfig(all);
  const int64_t ms = all.clock.jumps().last_ms;
  all.log.Warning("The system's clock was set ", ms > 0 ? "forward" : "back", " by ", std::abs(ms),
                  " ms, against the time that has passed");
}

}  // namespace

ServerState::ServerState(const CommandTable& commands, Engine& engine, Config& config, Logger& log)
    : troubles(log),
      users(commands, config),
      guard(users, acl_log, clock, config),
      stats(commands.entries().size()),
      clients(config),
      tracking(clients, config, RandomKey()),
      hot_keys(RandomKey()),
      host{.engine = engine,
           .commands = commands,
           .limits = config,
           .effects = effects,
           .key_events = key_events,
           .lookups = stats.lookups,
           .cursors = CursorCode(RandomKey()),
           .random = std::mt19937_64(RandomKey())},
      services{.commands = commands,
               .engine = engine,
               .config = config,
               .log = log,
               .troubles = troubles,
               .users = users,
               .acl_log = acl_log,
               .guard = guard,
               .clock = clock,
               .stats = stats,
               .clients = clients,
               .pubsub = pubsub,
               .watches = watches,
               .tracking = tracking,
               .blocked = blocked,
               .key_events = key_events,
               .effects = effects,
               .stream_id = stream_id,
               .slowlog = slowlog,
               .latency = latency,
               .loop = loop,
               .hot_keys = hot_keys,
               .memory = memory,
               .evictor = evictor,
               .history = history,
               .host = host,
               .pause = pause} {
  clock.set_watcher([this](bool jumped) { FollowClock(services, jumped); });
}

}  // namespace tally::server
