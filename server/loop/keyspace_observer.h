// Passes on what the keyspaces report: expired keys to the stream of effects and the key events,
// what was swept to the stream, new keys to the key events and to the clients that wait for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "core/engine/engine.h"
#include "core/words/word_list.h"
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
  void OnSwept(Keyspace& keyspace, std::string_view key, int64_t at_ms,
               const QuotaExpired& expired) override;
  void OnCreated(Keyspace& keyspace, Type type, std::string_view key) override;

  void LogSwept(size_t database, const WordList& begin, int64_t at_ms,
                std::span<const std::string> ids);

  Services& server_;
};

}  // namespace tally::server
