// Passes on what the keyspaces report: expired keys to the stream of effects and the key events,
// new keys to the key events and to the clients that wait for them.
#pragma once

#include <string_view>

#include "core/engine/engine.h"
#include "server/interfaces/services.h"

namespace tally::server {

// Observes the engine's keyspaces as long as it lives.
class KeyspaceObserver : private Keyspace::Observer {
 public:
  explicit KeyspaceObserver(Services& server);
  ~KeyspaceObserver();
  KeyspaceObserver(const KeyspaceObserver&) = delete;
  KeyspaceObserver& operator=(const KeyspaceObserver&) = delete;

 protected:
  void OnExpired(Keyspace& keyspace, std::string_view key) override;

 private:
  void OnCreated(Keyspace& keyspace, Type type, std::string_view key) override;

  Services& server_;
};

}  // namespace tally::server
