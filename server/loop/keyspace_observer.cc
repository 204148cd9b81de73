#include "server/loop/keyspace_observer.h"

#include <cstddef>

#include "server/effects/effect_stream.h"
#include "server/state/blocked_clients.h"
#include "server/state/key_event_feed.h"
#include "server/state/stats.h"

namespace tally::server {

KeyspaceObserver::KeyspaceObserver(Services& server) : server_(server) {
  server_.engine.set_observer(this);
}

KeyspaceObserver::~KeyspaceObserver() { server_.engine.set_observer(nullptr); }

void KeyspaceObserver::OnExpired(Keyspace& keyspace, std::string_view key) {
  const size_t database = server_.engine.IndexOf(keyspace);
  ++server_.stats.expired_keys;
  server_.effects.Append(database, {"DEL", key});
  server_.key_events.Expired(database, key);
}

void KeyspaceObserver::OnCreated(Keyspace& keyspace, Type type, std::string_view key) {
  if (!server_.blocked.empty()) [[unlikely]]
    server_.blocked.NoteCreated({server_.engine.IndexOf(keyspace), type, key});
  if (!server_.key_events.wants(kEventNew)) return;
  server_.key_events.Notify(kEventNew, "new", server_.engine.IndexOf(keyspace), key);
}

}  // namespace tally::server
