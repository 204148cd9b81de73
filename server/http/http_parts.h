// What HTTP reaches of the server: the sessions, and the handlers of the site they serve. Names
// only: a file includes the headers of what it uses.
#pragma once

namespace tally {
class Engine;
}  // namespace tally

namespace tally::server {

class AclGuard;
class AclUsers;
class ClientTable;
class Clock;
class CommandRunner;
class CommandTable;
class PubSub;
class WatchList;
struct Config;
struct ServerFigures;

// For the handlers of requests. The runner is made after these structs: set before the first
// request.
struct SiteParts {
  const CommandTable& commands;
  Engine& engine;
  const ServerFigures& figures;
  CommandRunner* const& runner;
};

struct HttpParts {
  const CommandTable& commands;
  const Config& config;
  const Clock& clock;
  AclUsers& users;
  AclGuard& guard;
  ClientTable& clients;
  PubSub& pubsub;
  WatchList& watches;
  CommandRunner* const& runner;
  SiteParts site;
};

}  // namespace tally::server
