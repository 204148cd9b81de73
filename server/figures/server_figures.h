// What INFO, the metrics and the page read. Names only: a file includes the headers of what it
// shows.
#pragma once

#include <memory>
#include <random>
#include <string>

namespace tally {
class Engine;
}  // namespace tally

namespace tally::server {

class BlockedClients;
class ClientTable;
class Clock;
class CommandTable;
class EffectStream;
class Evictor;
class FigureHistory;
class HotKeys;
class KeyTracking;
class LoopStats;
class MemoryMeter;
class Persistence;
class PrimaryLink;
class Process;
class PubSub;
class Replicas;
class ScriptEngine;
class StreamId;
struct Config;
struct Pause;
struct Stats;

struct ServerFigures {
  const CommandTable& commands;
  const Engine& engine;
  const Config& config;
  const Clock& clock;
  const Stats& stats;
  const ClientTable& clients;
  const PubSub& pubsub;
  const KeyTracking& tracking;
  const BlockedClients& blocked;
  const LoopStats& loop;
  const HotKeys& hot_keys;
  const std::shared_ptr<ScriptEngine>& scripts;  // null before the first script
  MemoryMeter& memory;                           // takes a sample when it is asked
  std::mt19937_64& random;                       // for what is estimated from a sample of keys
  const std::string& run_id;
  const std::string& config_path;  // absolute; empty if there is no file
  const bool& loading;
  const bool& script_busy;  // see ScriptParts
  const Pause& pause;
  const Evictor& evictor;
  const FigureHistory& history;
  const EffectStream& effects;
  const StreamId& stream_id;
  // Made by the process after this struct; set before the first command.
  Persistence* const& persistence;
  Replicas* const& replicas;
  PrimaryLink* const& primary;
  Process* const& process;
};

}  // namespace tally::server
