// The process: owns the parts of the server, connects them, and runs the event loop.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/engine.h"
#include "core/tzdata/tzdata_zones.h"
#include "server/aof/file_system.h"
#include "server/command/command_table.h"
#include "server/dispatch/dispatcher.h"
#include "server/durability/aof_persistence.h"
#include "server/durability/move_options.h"
#include "server/http/http_site.h"
#include "server/loop/blocked_timeouts.h"
#include "server/loop/client_limits.h"
#include "server/loop/client_output.h"
#include "server/loop/data_upkeep.h"
#include "server/loop/keyspace_observer.h"
#include "server/loop/migrator.h"
#include "server/loop/periodic_work.h"
#include "server/loop/replica_waits.h"
#include "server/loop/turn_queue.h"
#include "server/net/connection_table.h"
#include "server/net/event_poller.h"
#include "server/net/listeners.h"
#include "server/net/timer.h"
#include "server/net/turn_clock.h"
#include "server/process/process_end.h"
#include "server/process/server_state.h"
#include "server/process/signals.h"
#include "server/process/supervisor.h"
#include "server/replication/replica.h"
#include "server/replication/replica_links.h"

namespace tally::server {

class Server : private Process {
 public:
  // `config_path` is where CONFIG REWRITE writes; empty if there was no file.
  Server(Config& config, Logger& log, Supervisor& supervisor, const std::string& config_path);
  ~Server();

  // Opens the files and the listeners. Returns the first error.
  absl::Status Start(const MoveOptions& options = {});
  // Instead of Start and Run: takes over the data at options.import_path, and ends.
  absl::Status Import(const MoveOptions& options);
  // Instead of Start and Run: loads the data, begins no log, writes it as an RDB, and ends.
  absl::Status Export(const std::string& path);
  // Loads the data, answering LOADING meanwhile, and serves until SIGINT, SIGTERM or SHUTDOWN.
  // Returns the process's exit code.
  int Run();

  // The addresses that it listens on, for the log.
  std::vector<std::string> addresses() const { return listeners_.addresses(); }

 private:
  // Process
  absl::Status Shutdown(bool force, EndSave save) override;
  absl::Status ApplyConfig(std::string_view name) override;
  int64_t started_ms() const override { return started_ms_; }
  bool ServeOthers() override;

  absl::Status OpenFiles(const MoveOptions& options);
  absl::Status LoadUsers();
  void LoadSome();
  void BeginServing();
  bool HasWork() const;
  bool SliceIsDue();
  void EndTurn();
  // Sends the output of the clients. `logged` is the result of logging this turn: if it is an
  // error, the clients that wrote get no reply.
  void SendOutput(const absl::Status& logged);

  Config& config_;
  Logger& log_;
  Supervisor& supervisor_;
  CommandTable commands_;
  TzdataZones zones_;
  Engine engine_;
  ServerState state_;
  Dispatcher dispatcher_;
  PosixFileSystem files_;
  AofPersistence persistence_;
  ReplicaLinks replicas_;
  ReplicaWaits replica_waits_;
  KeyspaceObserver keyspace_observer_;

  EventPoller poller_;
  Replica replica_;
  // Ends the wait of a turn in which nothing happens, for the next slice of a rewrite.
  Timer slice_timer_;
  bool slice_timer_runs_ = false;
  BlockedTimeouts blocked_timeouts_;
  Migrator migrator_;
  TurnClock turn_clock_;
  TurnQueue queue_;
  HttpSite site_;
  ConnectionTable connections_;
  Listeners listeners_;
  ClientOutput client_output_;
  DataUpkeep data_upkeep_;
  ClientLimits client_limits_;
  PeriodicWork periodic_work_;
  ProcessEnd end_;
  Signals signals_;
  int64_t started_ms_ = 0;
  bool serves_ = false;  // the data of the start is loaded
};

}  // namespace tally::server
