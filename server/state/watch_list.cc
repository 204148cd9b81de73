#include "server/state/watch_list.h"

#include <algorithm>
#include <utility>

namespace tally::server {

std::string WatchList::Name(size_t database, std::string_view key) {
  std::string name(reinterpret_cast<const char*>(&database), sizeof database);
  return name.append(key);
}

void WatchList::Watch(Client& client, size_t database, std::string_view key, bool is_expired) {
  auto& watched = client.transaction.watched;
  const bool known = std::any_of(watched.begin(), watched.end(), [&](const WatchedKey& one) {
    return one.database == database && one.key == key;
  });
  if (known) return;
  watched.push_back({database, std::string(key), is_expired});
  watchers_[Name(database, key)].push_back(&client);
}

void WatchList::UnwatchAll(Client& client) {
  for (const WatchedKey& one : std::exchange(client.transaction.watched, {})) {
    const auto it = watchers_.find(Name(one.database, one.key));
    std::erase(it->second, &client);
    if (it->second.empty()) watchers_.erase(it);
  }
  client.transaction.touched = false;
}

void WatchList::EndTransaction(Client& client) {
  UnwatchAll(client);
  client.transaction = Transaction();
}

void WatchList::Touch(size_t database, std::string_view key) {
  const auto it = watchers_.find(Name(database, key));
  if (it == watchers_.end()) return;
  for (Client* client : it->second) client->transaction.touched = true;
}

void WatchList::TouchExpired(size_t database, std::string_view key) {
  const auto it = watchers_.find(Name(database, key));
  if (it == watchers_.end()) return;
  for (Client* client : it->second) {
    for (WatchedKey& one : client->transaction.watched) {
      if (one.database != database || one.key != key) continue;
      // What was watched dead is gone now; a key that comes after it is another one.
      if (!std::exchange(one.was_expired, false)) client->transaction.touched = true;
    }
  }
}

void WatchList::TouchAll(size_t database, const Keyspace& keyspace, const Keyspace* other,
                         int64_t now) {
  const std::string prefix = Name(database, "");
  for (auto& [name, clients] : watchers_) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view key = std::string_view(name).substr(prefix.size());
    if (!keyspace.Peek(key, now) && (other == nullptr || !other->Peek(key, now))) continue;
    for (Client* client : clients) client->transaction.touched = true;
  }
}

bool WatchList::AnyExpired(const Client& client, const Engine& engine, int64_t now) {
  const auto& watched = client.transaction.watched;
  return std::any_of(watched.begin(), watched.end(), [&](const WatchedKey& one) {
    if (one.was_expired) return false;
    // Without the time Peek shows expired keys too.
    const Keyspace::Entry entry = engine.database(one.database).Peek(one.key);
    return entry && entry.expired(now);
  });
}

}  // namespace tally::server
