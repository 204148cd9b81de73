// The conversations of MIGRATE that are under way, and the clients that wait for them.
#pragma once

#include <absl/container/btree_map.h>

#include <cstdint>
#include <memory>

#include "server/dispatch/dispatcher.h"
#include "server/interfaces/migrations.h"
#include "server/interfaces/services.h"
#include "server/loop/migration.h"
#include "server/net/event_poller.h"
#include "server/net/timer.h"

namespace tally::server {

class Migrator final : public Migrations {
 public:
  Migrator(EventPoller& poller, Services& server, Dispatcher& dispatcher)
      : poller_(poller), server_(server), dispatcher_(dispatcher), timer_(poller, [] {}) {
    server.migrations.Fill(*this);
  }

  void Begin(Client& client, const MigrationTarget& target, MigrationBatch batch) override;
  void Continue(Client& client, MigrationBatch batch) override;
  std::unique_ptr<MigrationResult> Take(const Client& client) override;

  // Called in each turn: continues what can be continued, and lets the clients of those that are
  // over go on. Costs nothing while there are none.
  void Serve();

 private:
  struct Waited {
    std::unique_ptr<Migration> migration;
    uint64_t command = 0;  // the number of the command that waits for it
  };

  // Null unless the client still waits for it.
  Client* WaitingClient(uint64_t id) const;

  EventPoller& poller_;
  Services& server_;
  Dispatcher& dispatcher_;
  Timer timer_;  // ends the wait of a turn: for timeouts, and names that were found
  absl::btree_map<uint64_t, Waited> migrations_;  // by the id of the client
};

}  // namespace tally::server
