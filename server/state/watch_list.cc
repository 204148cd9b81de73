#include "server/state/watch_list.h"

#include <algorithm>
#include <utility>

namespace tally::server {

std::string WatchList::Name(size_t database, std::string_view key) {
  std::string name(reinterpret_cast<const char*>(&database), sizeof database);
  return name.append(key);
}

WatchedKey* WatchList::Find(size_t database, std::string_view key) const {
  const auto it = keys_.find(Name(database, key));
  return it == keys_.end() ? nullptr : it->second.get();
}

void WatchList::Watch(Client& client, size_t database, std::string_view key, bool is_expired) {
  WatchedKey* watched = Find(database, key);
  if (watched == nullptr) {
    auto fresh = std::make_unique<WatchedKey>(WatchedKey{database, Name(database, key), {}});
    watched = fresh.get();
    keys_.emplace(watched->name, std::move(fresh));
  }
  const bool added = watched->watchers.emplace(&client, is_expired).second;
  if (added) client.transaction.watched.push_back(watched);
}

void WatchList::UnwatchAll(Client& client) {
  for (WatchedKey* watched : std::exchange(client.transaction.watched, {})) {
    watched->watchers.erase(&client);
    if (watched->watchers.empty()) keys_.erase(std::string_view(watched->name));
  }
  client.transaction.touched = false;
}

void WatchList::EndTransaction(Client& client) {
  UnwatchAll(client);
  client.transaction = Transaction();
}

void WatchList::Touch(size_t database, std::string_view key) {
  WatchedKey* const watched = Find(database, key);
  if (watched == nullptr) return;
  for (auto& [client, was_expired] : watched->watchers) client->transaction.touched = true;
}

void WatchList::TouchExpired(size_t database, std::string_view key) {
  WatchedKey* const watched = Find(database, key);
  if (watched == nullptr) return;
  for (auto& [client, was_expired] : watched->watchers) {
    // The key was past its deadline when it was watched, and is gone now. A key that is set
    // afterwards is another one: its end is a change.
    if (!std::exchange(was_expired, false)) client->transaction.touched = true;
  }
}

void WatchList::TouchAll(size_t database, const Keyspace& keyspace, const Keyspace* other,
                         int64_t now_ms) {
  for (auto& [name, watched] : keys_) {
    if (watched->database != database) continue;
    // Peek without the time also finds expired keys.
    const bool exists = static_cast<bool>(keyspace.Peek(watched->key()));
    const bool comes = other != nullptr && other->Peek(watched->key());
    if (!exists && !comes) continue;
    const bool comes_expired = comes && !other->Peek(watched->key(), now_ms);
    for (auto& [client, was_expired] : watched->watchers) {
      const bool was_dead = was_expired || !exists;
      // A key that is dead before and after has not changed. was_expired may be true only for a key
      // that is there, because only such a key can be removed as expired.
      if (was_dead && (!comes || comes_expired)) {
        was_expired = comes_expired;
      } else {
        client->transaction.touched = true;
      }
    }
  }
}

bool WatchList::AnyExpired(Client& client, const Engine& engine, int64_t now_ms) {
  const auto& watched = client.transaction.watched;
  return std::any_of(watched.begin(), watched.end(), [&](const WatchedKey* one) {
    if (one->watchers.at(&client)) return false;
    // Peek without the time also finds expired keys.
    const Keyspace& keyspace = engine.database(one->database);
    const Keyspace::Entry entry = keyspace.Peek(one->key());
    return entry && keyspace.HasExpired(entry, now_ms);
  });
}

}  // namespace tally::server
