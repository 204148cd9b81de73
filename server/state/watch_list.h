// Which clients watch which key (WATCH), so that a change of the key marks their transactions.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <memory>
#include <string>
#include <string_view>

#include "core/engine/engine.h"
#include "server/state/client.h"

namespace tally::server {

struct WatchedKey {
  size_t database;
  std::string name;  // the database, and the key
  // Whether the key had already passed its deadline when the client watched it.
  absl::flat_hash_map<Client*, bool> watchers;

  std::string_view key() const { return std::string_view(name).substr(sizeof database); }
};

class WatchList {
 public:
  bool empty() const { return keys_.empty(); }

  // Has no effect if the client watches the key already. O(1).
  void Watch(Client& client, size_t database, std::string_view key, bool is_expired);
  // Ends all watches of the client, and forgets that a watched key has changed. O(keys that the
  // client watches).
  void UnwatchAll(Client& client);
  // Called when the MULTI of the client is over, run or not. Ends its watches too.
  void EndTransaction(Client& client);

  void Touch(size_t database, std::string_view key);
  // Called when the key is removed because its deadline has passed. That is a change only for
  // clients that watched the key before its deadline.
  void TouchExpired(size_t database, std::string_view key);
  // Called before a whole database is emptied, or exchanged with `other` (null if it is emptied).
  // Touches its watched keys that exist in either of them, but not for a watcher to which the key
  // is dead (absent, or past its deadline) both before and after.
  void TouchAll(size_t database, const Keyspace& keyspace, const Keyspace* other, int64_t now_ms);
  // Whether the client watches a key that has passed its deadline since it was watched.
  static bool AnyExpired(Client& client, const Engine& engine, int64_t now_ms);

 private:
  static std::string Name(size_t database, std::string_view key);
  WatchedKey* Find(size_t database, std::string_view key) const;

  // Indexed by the name in each WatchedKey. A client holds pointers to the keys that it watches.
  absl::flat_hash_map<std::string_view, std::unique_ptr<WatchedKey>> keys_;
};

}  // namespace tally::server
