// The parts of the server, by name: how every folder below this one reaches them. They are built by
// the process (server/process/server_state.h). Names only: a file includes the headers of the parts
// that it uses, and so says what it depends on.
#pragma once

#include <memory>
#include <string>

#include "core/base/check.h"

namespace tally {
class Engine;
}  // namespace tally

namespace tally::server {

class AclGuard;
class AclLog;
class AclUsers;
class BlockedClients;
class ClientTable;
class Clock;
class CommandRunner;
class CommandTable;
class EffectStream;
class Evictor;
class FigureHistory;
class HotKeys;
class KeyEventFeed;
class KeyTracking;
class LatencyLog;
class Logger;
class LoopStats;
class MemoryMeter;
class Persistence;
class Process;
class PubSub;
class ScriptEngine;
class Slowlog;
class WatchList;
struct CommandHost;
struct Config;
struct Pause;
struct Stats;
struct Troubles;

// An interface whose implementation needs the other parts, so that it is built after them: its
// constructor fills this in. That comes before the first command (asserted at each use).
template <typename Interface>
class LatePart {
 public:
  LatePart() = default;
  LatePart(const LatePart&) = delete;
  LatePart& operator=(const LatePart&) = delete;

  void Fill(Interface& part) { part_ = &part; }
  Interface& operator*() const {
    Check(part_ != nullptr, "a late part is filled before it is used");
    return *part_;
  }
  Interface* operator->() const { return &**this; }

 private:
  Interface* part_ = nullptr;
};

struct Services {
  const CommandTable& commands;
  Engine& engine;
  Config& config;
  Logger& log;
  Troubles& troubles;
  AclUsers& users;
  AclLog& acl_log;
  AclGuard& guard;
  Clock& clock;
  Stats& stats;
  ClientTable& clients;
  PubSub& pubsub;
  WatchList& watches;
  KeyTracking& tracking;
  BlockedClients& blocked;
  KeyEventFeed& key_events;
  EffectStream& effects;
  Slowlog& slowlog;
  LatencyLog& latency;
  LoopStats& loop;
  HotKeys& hot_keys;
  MemoryMeter& memory;
  Evictor& evictor;
  FigureHistory& history;
  CommandHost& host;
  Pause& pause;

  LatePart<CommandRunner> runner{};
  LatePart<Persistence> persistence{};
  LatePart<Process> process{};

  bool loading = false;  // the data is being loaded: clients are answered LOADING
  // A script has been running for longer than busy-reply-threshold. Commands without kAllowBusy are
  // answered BUSY; the clock stops, and nothing expires.
  bool script_busy = false;
  bool active_expire = true;                // due keys are removed between commands
  std::shared_ptr<ScriptEngine> scripts{};  // null before the first script
  std::string run_id{};
  std::string config_path{};  // absolute; empty without a file
};

}  // namespace tally::server
