// What running scripts reaches of the server. Names only: a file includes the headers of what it
// uses.
#pragma once

namespace tally::server {

class ClientTable;
class Clock;
class CommandRunner;
class CommandTable;
class EffectStream;
class KeyTracking;
class Logger;
class Process;
struct Config;
struct Stats;

struct ScriptParts {
  const CommandTable& commands;
  const Config& config;
  Logger& log;
  Clock& clock;
  ClientTable& clients;
  KeyTracking& tracking;
  EffectStream& effects;
  Stats& stats;
  // A script has been running for longer than busy-reply-threshold. Commands without kAllowBusy are
  // answered BUSY; the clock stops, and nothing expires.
  bool& script_busy;
  // Made by the process after this struct; set before the first script.
  CommandRunner* const& runner;
  Process* const& process;
};

}  // namespace tally::server
