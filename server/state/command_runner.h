// Running commands from inside others: transactions, scripts, the log.
#pragma once

#include "server/command/command_table.h"
#include "server/state/client.h"

namespace tally::server {

// What a script's commands may do.
struct ScriptRights {
  bool write = true;
  // Run commands that need memory though there is none (maxmemory). A script that has written
  // anything may, so that it is not cut in the middle.
  bool exceed_memory = false;
};

// Runs commands for those who do not know the dispatcher.
class CommandRunner {
 public:
  // Before the requests of one read: from here they are timed.
  virtual void BeginBatch() = 0;
  // A request of a client, with all checks; its reply is appended to the client's output. Empty
  // requests are none. False when it has to be given again later, because clients are paused.
  virtual bool Execute(Client& client, Args args) = 0;
  // Microseconds since the batch began, whoever has spent them; the next command is timed from now.
  virtual int64_t MeasureBatch() = 0;

  // Without the checks of a request: for EXEC, which made them when it queued, and for the log.
  virtual void Run(Client& client, const CommandTable::Item& item, Args args) = 0;
  // A command that the script of `caller` calls as `client`, and which may be any words. The reply
  // is an error when it is none, or none that scripts or the caller's user may call, or not within
  // `rights`, which it may extend.
  virtual void RunFromScript(Client& client, const Client& caller, Args args,
                             ScriptRights& rights) = 0;
  // An effect of an earlier call: nothing is judged or reported again.
  virtual void Replay(Client& client, const CommandTable::Item& item, Args args) = 0;

 protected:
  ~CommandRunner() = default;
};

}  // namespace tally::server
