// What saving and loading reach of the server. Names only: a file includes the headers of what it
// uses.
#pragma once

namespace tally {
class Engine;
}  // namespace tally

namespace tally::server {

class Clock;
class CommandTable;
class EffectStream;
class Logger;
struct Config;
struct Stats;

struct PersistenceParts {
  const CommandTable& commands;
  Engine& engine;
  const Config& config;
  Logger& log;
  Clock& clock;
  Stats& stats;
  EffectStream& effects;
  bool& loading;  // while it is set, clients are answered LOADING
};

}  // namespace tally::server
