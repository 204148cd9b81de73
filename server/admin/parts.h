// What each family of commands that administer the server can reach of it, beside the call itself:
// one struct for each family, which its handlers get as their second argument. The process fills
// them in once (server/process/server_state.cc). They name classes and include nothing, so that a
// family depends on the headers of its own parts only. A part that the process makes later than
// these structs is a reference to a pointer, which is set before the first command.
#pragma once

#include <memory>
#include <string>
#include <tuple>

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
class HotKeys;
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
class WatchList;
struct Config;
struct Pause;
struct ScriptParts;
struct ServerFigures;
struct Stats;

struct AclParts {
  const CommandTable& commands;
  const Config& config;
  Logger& log;
  AclUsers& users;
  AclLog& acl_log;
  ClientTable& clients;
};

struct ClientParts {
  AclUsers& users;
  ClientTable& clients;
  KeyTracking& tracking;
  Pause& pause;
  CommandRunner* const& runner;
};

struct ConfigParts {
  Config& config;
  const std::string& config_path;  // absolute; empty if there is no file
  Logger& log;
  AclUsers& users;
  Stats& stats;
  LoopStats& loop;
  Process* const& process;
};

struct ConnectionParts {
  AclUsers& users;
  AclGuard& guard;
  ClientTable& clients;
  PubSub& pubsub;
  WatchList& watches;
  KeyTracking& tracking;
};

struct DatabaseParts {
  const Clock& clock;
  WatchList& watches;
  KeyTracking& tracking;
  BlockedClients& blocked;
  Persistence* const& persistence;
};

struct DebugParts {
  const Config& config;
  Clock& clock;
  bool& active_expire;
  KeyTracking& tracking;
  Persistence* const& persistence;
};

struct HotKeysParts {
  HotKeys& hot_keys;
};

struct IntrospectionParts {
  const CommandTable& commands;
};

struct MemoryParts {
  const Config& config;
  MemoryMeter& memory;
  ClientTable& clients;
  HotKeys& hot_keys;
};

struct ObservationParts {
  const CommandTable& commands;
  const Config& config;
  Stats& stats;
  Slowlog& slowlog;
  LatencyLog& latency;
};

struct PubSubParts {
  PubSub& pubsub;
};

struct ReplicationParts {
  Replicas* const& replicas;
  PrimaryLink* const& primary;
};

struct ScriptingParts {
  const Clock& clock;
  Logger& log;
  ClientTable& clients;
  const Evictor& evictor;
  std::shared_ptr<ScriptEngine>& scripts;  // null before the first script
  const ScriptParts& for_scripts;
};

struct ServerAdminParts {
  const ServerFigures& figures;
  Logger& log;
  ClientTable& clients;
  const bool& loading;
  const bool& script_busy;
  Persistence* const& persistence;
  Process* const& process;
};

struct TransactionParts {
  AclGuard& guard;
  WatchList& watches;
  EffectStream& effects;
  CommandRunner* const& runner;
};

struct AdminParts {
  std::tuple<AclParts, ClientParts, ConfigParts, ConnectionParts, DatabaseParts, DebugParts,
             HotKeysParts, IntrospectionParts, MemoryParts, ObservationParts, PubSubParts,
             ReplicationParts, ScriptingParts, ServerAdminParts, TransactionParts>
      families;
  // For the commands of any family that wait.
  const Clock& clock;
  BlockedClients& blocked;
};

}  // namespace tally::server
