// Decides whether a command may run now: the pause of clients, authentication, permissions, memory,
// the log, and the state of the connection.
#pragma once

#include <cstdint>
#include <string>

#include "server/command/command_table.h"
#include "server/interfaces/command_runner.h"
#include "server/interfaces/services.h"
#include "server/state/client.h"

namespace tally::server {

class Admission {
 public:
  // `server` must outlive this.
  explicit Admission(Services& server) : server_(server) {}

  // Whether the request must wait, because clients are paused.
  bool Postpones(const Client& client, const CommandEntry& entry) const;
  // Whether a request may be run, or queued by MULTI. If not, `refusal` becomes its error.
  //
  // May log the client in as the default user, which may have lost its password since the client
  // connected, and evicts keys if maxmemory is exceeded.
  bool Admits(Client& client, const CommandEntry& entry, Args args, std::string& refusal) const;
  // Returns the error for a call that the script of `caller` may not make; empty if it may. `entry`
  // is null if there is no such command.
  std::string RefuseInScript(const Client& caller, const CommandEntry* entry, Args args,
                             const ScriptRights& rights) const;

 private:
  // The flags of the command. For EXEC also those of the queued commands: kWrite, kDenyOom and
  // kMayReplicate.
  static uint32_t FlagsOf(const Client& client, const CommandEntry& entry);
  // Whether the command may run, or be queued, although maxmemory is exceeded and nothing can be
  // evicted.
  static bool RunsWithoutMemory(const Client& client, const CommandEntry& entry);
  // Whether a write needs more replicas (min-replicas-to-write).
  bool LacksReplicas() const;
  // Why the server does not serve: LOADING or MISCONF. Empty if it does.
  std::string Trouble() const;
  // Whether the state of the server and of the connection allows the command.
  bool AdmitsInState(const Client& client, const CommandEntry& entry, std::string& refusal) const;

  Services& server_;
};

}  // namespace tally::server
