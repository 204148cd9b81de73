// Owns the parts that Services refers to. The process makes one, and so does a test. A new part is
// a member here, in the order in which they are built, and a reference in Services.
#pragma once

#include "core/engine/engine.h"
#include "server/acl/acl_guard.h"
#include "server/acl/acl_log.h"
#include "server/acl/acl_users.h"
#include "server/command/command_host.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/figures/figure_history.h"
#include "server/interfaces/command_runner.h"
#include "server/interfaces/persistence.h"
#include "server/interfaces/process.h"
#include "server/interfaces/services.h"
#include "server/log/log.h"
#include "server/log/trouble_log.h"
#include "server/memory/evictor.h"
#include "server/memory/memory_usage.h"
#include "server/state/blocked_clients.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/hot_keys.h"
#include "server/state/key_event_feed.h"
#include "server/state/key_tracking.h"
#include "server/state/loop_stats.h"
#include "server/state/pause.h"
#include "server/state/pubsub.h"
#include "server/state/slowlog.h"
#include "server/state/stats.h"
#include "server/state/watch_list.h"

namespace tally::server {

struct ServerState {
  ServerState(const CommandTable& commands, Engine& engine, Config& config, Logger& log);
  ServerState(const ServerState&) = delete;
  ServerState& operator=(const ServerState&) = delete;

  Troubles troubles;
  AclUsers users;
  AclLog acl_log;
  Clock clock;
  AclGuard guard;
  Stats stats;
  ClientTable clients;
  PubSub pubsub{clients};
  WatchList watches;
  KeyTracking tracking;
  BlockedClients blocked;
  KeyEventFeed key_events{watches, tracking, pubsub};
  EffectStream effects;
  Slowlog slowlog;
  LatencyLog latency;
  LoopStats loop;
  HotKeys hot_keys;
  MemoryMeter memory;
  Evictor evictor;
  FigureHistory history;
  CommandHost host;
  Pause pause;
  Services services;  // last, as it refers to the others
};

}  // namespace tally::server
