// Who watches which key (WATCH), so that a change marks their transactions.
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

  // Nothing happens when the client watches the key already. O(1).
  void Watch(Client& client, size_t database, std::string_view key, bool is_expired);
  // Also forgets that a watched key has changed. O(keys that the client watches).
  void UnwatchAll(Client& client);
  // The client's MULTI is over, run or not, and with it its watching.
  void EndTransaction(Client& client);

  void Touch(size_t database, std::string_view key);
  // The key is removed because its deadline has passed: news only to those who watched it alive.
  void TouchExpired(size_t database, std::string_view key);
  // A whole database is about to be emptied, or changed for `other` (null: none): its watched keys
  // that exist in either are touched.
  void TouchAll(size_t database, const Keyspace& keyspace, const Keyspace* other, int64_t now);
  // Whether a key that lived when it was watched has passed its deadline since.
  static bool AnyExpired(Client& client, const Engine& engine, int64_t now);

 private:
  static std::string Name(size_t database, std::string_view key);
  WatchedKey* Find(size_t database, std::string_view key) const;

  // By the name that each holds. A client holds pointers to those that it watches.
  absl::flat_hash_map<std::string_view, std::unique_ptr<WatchedKey>> keys_;
};

}  // namespace tally::server
