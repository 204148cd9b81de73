#include "server/loop/keyspace_observer.h"

#include <cstddef>

#include "core/bytes/number.h"
#include "core/quota/quota_types.h"
#include "core/words/word.h"
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

void KeyspaceObserver::OnSwept(Keyspace& keyspace, std::string_view key, int64_t at_ms,
                               const QuotaExpired& expired) {
  const size_t database = server_.engine.IndexOf(keyspace);
  LogSwept(database, {"QUOTA.RESET", key}, at_ms, expired.users);
  LogSwept(database, {"QUOTA.DELLIMIT", key}, at_ms, expired.skus);
}

// See quota_effects.h. An id that is spelt like an option can only be alone (QuotaArgs::ReadIds).
void KeyspaceObserver::LogSwept(size_t database, const WordList& begin, int64_t at_ms,
                                std::span<const std::string> ids) {
  constexpr size_t kMostWords = 500;
  const auto is_option = [](std::string_view id) {
    return IsWord(id, "actions") || IsWord(id, "at");
  };
  const Int64Text at(at_ms);
  WordList words = begin;
  for (size_t i = 0; i < ids.size(); ++i) {
    words.push_back(ids[i]);
    const bool goes_on = i + 1 < ids.size() && words.size() < kMostWords && !is_option(ids[i]) &&
                         !is_option(ids[i + 1]);
    if (goes_on) continue;
    AppendWords(words, {{"ACTIONS", "NOW", at.view()}});
    server_.effects.Append(database, words);
    words = begin;
  }
}

}  // namespace tally::server
