// What the parts of the process itself share: the dispatcher, connections, the loop. Folders below
// know nothing of it; each has a struct of its own with what it reaches. Names only: a file
// includes the headers of what it uses.
#pragma once

#include <memory>
#include <string>

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
class PrimaryLink;
class Process;
class PubSub;
class Replicas;
class ScriptEngine;
class Slowlog;
class StreamId;
class WatchList;
struct AdminParts;
struct CommandHost;
struct Config;
struct HttpParts;
struct Pause;
struct ServerFigures;
struct Stats;
struct Troubles;

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
  StreamId& stream_id;
  Slowlog& slowlog;
  LatencyLog& latency;
  LoopStats& loop;
  HotKeys& hot_keys;
  MemoryMeter& memory;
  Evictor& evictor;
  FigureHistory& history;
  CommandHost& host;
  bool& loading;  // clients are answered LOADING
  Pause& pause;
  Persistence*& persistence;
  Replicas*& replicas;
  PrimaryLink*& primary;
  const ServerFigures& figures;
  const AdminParts& admin;
  const HttpParts& http;

  std::string run_id;
  std::string config_path;  // absolute; empty without a file
  bool active_expire = true;
  bool script_busy = false;               // see ScriptParts
  std::shared_ptr<ScriptEngine> scripts;  // null before the first script

  Process* process = nullptr;
  CommandRunner* runner = nullptr;
};

}  // namespace tally::server
