// References to the parts of the server, for the commands that administer it and for the parts
// themselves. The types are only declared here, so that a file includes the headers of the parts
// that it uses, and no others. ServerState owns all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tally {
class Engine;
}  // namespace tally

namespace tally::server {

class AclGuard;
class AclLog;
class AclUsers;
class ClientTable;
class Clock;
class CommandRunner;
class CommandTable;
class EffectStream;
class Evictor;
class HotKeys;
class KeyEventFeed;
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
struct Stats;

// The state of CLIENT PAUSE; `until_ms` is in unix ms.
struct Pause {
  int64_t until_ms = 0;
  bool writes_only = false;
};

struct Services {
  const CommandTable& commands;
  Engine& engine;
  Config& config;
  Logger& log;
  AclUsers& users;
  AclLog& acl_log;
  AclGuard& guard;
  Clock& clock;
  Stats& stats;
  ClientTable& clients;
  PubSub& pubsub;
  WatchList& watches;
  KeyEventFeed& key_events;
  EffectStream& effects;
  Slowlog& slowlog;
  LatencyLog& latency;
  LoopStats& loop;
  HotKeys& hot_keys;
  MemoryMeter& memory;
  Evictor& evictor;
  CommandHost& host;

  std::string run_id;
  std::string config_path;  // absolute; empty without a file
  bool loading = false;     // clients are answered LOADING
  bool active_expire = true;
  // A script has been running for longer than busy-reply-threshold. Commands without kAllowBusy are
  // answered BUSY; the clock stops, and nothing expires.
  bool script_busy = false;
  Pause pause;
  std::shared_ptr<ScriptEngine> scripts;  // null before the first script

  Persistence* persistence = nullptr;
  Process* process = nullptr;
  CommandRunner* runner = nullptr;
};

}  // namespace tally::server
