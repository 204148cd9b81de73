// Runs commands for other parts of the server: transactions, scripts, HTTP and the log.
#pragma once

#include <string_view>

#include "server/command/command_table.h"
#include "server/state/client.h"

namespace tally::server {

// What a script's commands may do.
struct ScriptRights {
  bool write = true;
  // Whether commands that need memory run although maxmemory is exceeded. A script that has written
  // anything has this right, so that it does not stop half-way.
  bool exceed_memory = false;
};

// Runs commands for callers that do not know the dispatcher.
class CommandRunner {
 public:
  // Called before the requests of one read. Their time is measured from here.
  virtual void BeginBatch() = 0;
  // Runs a request of a client, with all checks, and appends the reply to the client's output. An
  // empty request has no effect. Returns false if the request must be given again later, because
  // clients are paused.
  virtual bool Execute(Client& client, Args args) = 0;
  // Replies the error for a request that is no command. Unlike Execute it never closes the
  // connection of a client that sends what a browser would send to the port of RESP.
  virtual void RejectUnknown(Client& client, Args args) = 0;
  // Ends the wait of a client's command: the client gets `error`, or, if that is empty, the reply
  // of a command whose time is over. Returns false if no command of the client waits.
  virtual bool Unblock(Client& client, std::string_view error) = 0;
  // Returns the microseconds since the batch began, whatever has used them. The next command is
  // timed from now on.
  virtual int64_t MeasureBatch() = 0;

  // Runs a command without the checks of a request, for EXEC: they were made when the command was
  // queued.
  virtual void Run(Client& client, const CommandEntry& entry, Args args) = 0;
  // Runs a command that the script of `caller` calls as `client`. `args` may be any words: the
  // reply is an error if they are no command, if scripts or the user of the caller may not run it,
  // or if `rights` do not allow it. May extend `rights`.
  virtual void RunFromScript(Client& client, const Client& caller, Args args,
                             ScriptRights& rights) = 0;
  // Runs an effect of an earlier call, which is neither checked nor reported again.
  virtual void Replay(Client& client, const CommandEntry& entry, Args args) = 0;
  // Runs an effect of another server, as Replay does, and appends what it does here to the stream
  // of effects.
  virtual void Follow(Client& client, const CommandEntry& entry, Args args) = 0;

 protected:
  ~CommandRunner() = default;
};

}  // namespace tally::server
