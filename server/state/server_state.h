// Everything that commands may reach, gathered by the server and handed down.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "core/engine/engine.h"
#include "server/acl/acl_log.h"
#include "server/acl/acl_users.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/log.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"
#include "server/state/cursor_code.h"
#include "server/state/effect_log.h"
#include "server/state/evictor.h"
#include "server/state/key_events.h"
#include "server/state/memory_usage.h"
#include "server/state/pubsub.h"
#include "server/state/scratch.h"
#include "server/state/slowlog.h"
#include "server/state/stats.h"
#include "server/state/watch_list.h"

namespace tally::server {

// The files, as commands see them.
class Persistence {
 public:
  // OK, or why no write is acknowledged at present.
  virtual const absl::Status& write_error() const = 0;
  // Begins a new base snapshot; fails when one is under way.
  virtual absl::Status StartRewrite() = 0;
  virtual bool rewriting() const = 0;
  // Whether snapshots are all that keeps the data, and the last one failed.
  virtual bool snapshot_failed() const = 0;
  // Writes everything before it returns.
  virtual absl::Status SaveNow() = 0;
  // The same where `save` asks for it and no log has it all: when the server ends.
  virtual absl::Status SaveAtEnd() = 0;
  // A whole database is about to be emptied, or two to be swapped: a snapshot under way follows.
  virtual void BeforeClear(size_t database) = 0;
  virtual void BeforeSwap(size_t one, size_t other) = 0;
  // CONFIG SET appendonly and appendfsync.
  virtual absl::Status ApplyConfig() = 0;
  // Drops the keyspace and reads it again from the files (DEBUG RELOAD and LOADAOF).
  virtual absl::Status Reload() = 0;
  // The rows of INFO persistence.
  virtual void AppendInfo(std::string& out) const = 0;
  virtual int64_t last_save_ms() const = 0;

 protected:
  ~Persistence() = default;
};

// The process, as commands see it.
class Process {
 public:
  // Ends the server after this turn; with `force` also when the log cannot be written. `save` asks
  // for what others still change in this turn to be saved as well.
  virtual absl::Status Shutdown(bool force, bool save) = 0;
  // A directive that the process itself holds (port, maxclients …) has changed.
  virtual absl::Status ApplyConfig(std::string_view name) = 0;
  virtual int64_t started_ms() const = 0;
  // Lets the other clients have their turn while a script is busy; see ServerState::script_busy.
  // False when the server is ending, and the script has to end.
  virtual bool ServeOthers() = 0;

 protected:
  ~Process() = default;
};

// What a script's commands may do.
struct ScriptRights {
  bool write = true;
  // Run commands that need memory though there is none (maxmemory). A script that has written
  // anything may, so that it is not cut in the middle.
  bool exceed_memory = false;
};

// Runs commands that are no requests of a connection.
class CommandRunner {
 public:
  // Without the checks of a request: for EXEC, which made them when it queued, and for the log.
  virtual void Run(Client& client, const CommandTable::Item& item, Args args) = 0;
  // A command that the script of `caller` calls as `client`, and which may be any words. The reply
  // is an error when it is none, or none that scripts or the caller's user may call, or not within
  // `rights`, which it may extend.
  virtual void RunFromScript(Client& client, const Client& caller, Args args,
                             ScriptRights& rights) = 0;

 protected:
  ~CommandRunner() = default;
};

class ScriptEngine;

// CLIENT PAUSE.
struct Pause {
  int64_t until_ms = 0;
  bool writes_only = false;
};

struct ServerState {
  ServerState(const CommandTable& command_table, Engine& engine_in, Config& config_in,
              Logger& log_in)
      : commands(command_table),
        engine(engine_in),
        config(config_in),
        log(log_in),
        users(command_table, config_in),
        stats(command_table.items().size()),
        scratch(engine_in.seed()) {}

  const CommandTable& commands;
  Engine& engine;
  Config& config;
  Logger& log;
  AclUsers users;
  AclLog acl_log;
  Clock clock;
  Stats stats;
  ClientTable clients{config};
  PubSub pubsub{clients};
  WatchList watches;
  KeyEvents key_events{watches, pubsub};
  EffectLog effects;
  Slowlog slowlog;
  LatencyLog latency;
  MemoryMeter memory;
  Evictor evictor{*this};
  Scratch scratch;
  std::mt19937_64 random{std::random_device{}()};
  CursorCode cursors{uint64_t{std::random_device{}()} << 32 | std::random_device{}()};
  std::string run_id;
  std::string config_path;  // absolute; empty without a file
  bool loading = false;
  bool active_expire = true;
  // A script has been running for longer than busy-reply-threshold. Commands without kAllowBusy are
  // told BUSY; the clock stands, and nothing expires.
  bool script_busy = false;
  Pause pause;
  std::shared_ptr<ScriptEngine> scripts;  // null before the first script

  Persistence* persistence = nullptr;
  Process* process = nullptr;
  CommandRunner* runner = nullptr;
};

}  // namespace tally::server
