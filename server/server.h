// The process: listens, accepts, turns the loop, keeps house.
#pragma once

#include <absl/status/status.h>

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/tzdata/tzdata_zones.h"
#include "server/client_limits.h"
#include "server/client_output.h"
#include "server/connection.h"
#include "server/connection_table.h"
#include "server/data_upkeep.h"
#include "server/dispatcher.h"
#include "server/listeners.h"
#include "server/periodic_work.h"
#include "server/persistence/aof_persistence.h"
#include "server/ready_set.h"
#include "server/server_state.h"
#include "server/supervisor.h"
#include "server/turn_budget.h"
#include "server/turn_clock.h"

namespace tally::server {

class Server : public ConnectionQueue, private Process, private Keyspace::Observer {
 public:
  // `config_path` is where CONFIG REWRITE writes; empty if there was no file.
  Server(Config& config, Logger& log, Supervisor& supervisor, const std::string& config_path);
  ~Server();

  // Opens the files and the listeners; what fails is told.
  absl::Status Start();
  // Loads the data, answering LOADING meanwhile, and serves until SIGINT, SIGTERM or SHUTDOWN.
  // Returns the process's exit code.
  int Run();

  void Enqueue(std::shared_ptr<Connection> connection) override;

  // Where it listens, for the log and for `port 0`.
  const std::vector<std::string>& addresses() const { return listeners_.addresses(); }

 private:
  // Read at once from a socket.
  static constexpr size_t kReadBytes = 64 * 1024;
  // So many connections are read one after the other before their commands run, for the cache
  // misses of their keys to overlap.
  static constexpr size_t kReadTogether = 16;
  // Keeps the beginnings of their buffers out of one another's cache lines.
  static constexpr size_t kReadStride = kReadBytes + 320;

  // Process
  absl::Status Shutdown(bool force, bool save) override;
  absl::Status ApplyConfig(std::string_view name) override;
  int64_t started_ms() const override { return started_ms_; }
  bool ServeOthers() override;
  // Keyspace::Observer
  void OnExpired(Keyspace& keyspace, std::string_view key) override;
  void OnCreated(Keyspace& keyspace, std::string_view key) override;
  void BeforeChange(Keyspace& keyspace, Keyspace::Segment& segment, std::string_view key,
                    const Keyspace::Entry& entry) override;
  void BeforeValueChange(void* value) override { persistence_.SaveBeforeValueChange(value); }
  bool KeepValue(Type type, void* value) override;

  absl::Status LoadUsers();

  // Connections that get this turn: the first `run` of them have been run, the first `read` read.
  struct Lane {
    std::vector<std::shared_ptr<Connection>> connections;
    size_t read = 0;
    size_t run = 0;
  };

  void EndTurn();
  // Runs what is ready; waits for it unless the turn has other work.
  void Poll(bool has_work);
  void WaitForReady();
  void TakeReady();
  // Those in the queue that may run now get this turn.
  void TakeQueue();
  bool HasWork() const;
  // If it is not due, it is waited for.
  bool SliceIsDue();
  bool MayRun(const Connection& connection) const;
  void ServeTurn();
  // Reads and runs what the connections of the lane have, `together` at a time, as far as the
  // turn's budget reaches, but at least one.
  void ServeLane(Lane& lane, size_t together, const TurnShare& share);
  void ReadGroup(Lane& lane, size_t together);
  void LeaveRest(Lane& lane);
  void FetchKeys(std::span<const std::shared_ptr<Connection>> connections);
  void LoadSome();
  void FlushLog();
  void EraseClosed();
  void BeginServing();
  bool HasEnded();
  void WaitForSignal();
  void ReopenLog();

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

  asio::io_context io_;
  asio::signal_set signals_;
  asio::steady_timer slice_;  // of a rewrite
  bool slice_awaited_ = false;
  asio::posix::stream_descriptor ready_descriptor_;
  ReadySet ready_set_;
  bool waiting_ = false;  // for the set of sockets
  TurnClock turn_clock_;
  ConnectionTable connections_;
  Listeners listeners_;
  ClientOutput client_output_;
  DataUpkeep data_upkeep_;
  ClientLimits client_limits_;
  PeriodicWork periodic_work_;
  std::vector<std::shared_ptr<Connection>> queue_;
  // Those of this turn; who took much when it last ran comes after all others.
  Lane light_;
  Lane heavy_;
  TurnBudget budget_;
  std::vector<char> read_buffer_;
  bool stopping_ = false;
  // With stopping_: whether a snapshot is still to be written, and the end comes without it too.
  bool save_at_end_ = false;
  bool end_is_forced_ = false;
  bool load_failed_ = false;
  int64_t started_ms_ = 0;
};

}  // namespace tally::server
