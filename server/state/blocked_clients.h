// Clients whose command waits until a key gets a value (BLPOP and the like): who waits for which
// key, since when, and for how long. Which of the keys have got one is noted here; the dispatcher
// then runs the commands again.
//
// Costs a branch for each new key, and one for each request, while no client waits. A client that
// waits costs nothing until one of its keys is created or its time is over.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/type.h"
#include "server/command/command.h"
#include "server/state/blocked_command.h"
#include "server/state/client.h"

namespace tally {
class Keyspace;
}  // namespace tally

namespace tally::server {

// A key that is to get a value of the type.
struct KeyWish {
  size_t database;
  Type type;
  std::string_view key;

  bool operator==(const KeyWish&) const = default;
  template <typename H>
  friend H AbslHashValue(H state, const KeyWish& wish) {
    return H::combine(std::move(state), wish.database, wish.type,
                      absl::string_view(wish.key.data(), wish.key.size()));
  }
};

struct AwaitedKey {
  size_t database;
  Type type;
  std::string key;
  absl::btree_map<uint64_t, Client*> clients;  // by BlockedCommand::number
  uint64_t ready = 0;                          // its place in the order of ready keys; 0: none

  KeyWish wish() const { return {database, type, key}; }
};

class BlockedClients {
 public:
  bool empty() const { return clients_ == 0; }
  size_t clients() const { return clients_; }
  size_t with_deadline() const { return deadlines_.size(); }

  // The client, whose command runs, waits until one of the keys gets a value. `command` lacks its
  // keys and its number. O(keys · log(clients that wait for the same)).
  void Block(Client& client, std::unique_ptr<BlockedCommand> command, Args keys);
  // The client waits no more. Returns its command; null if it did not wait.
  std::unique_ptr<BlockedCommand> Take(Client& client);

  // The clients that wait for replicas, who has waited longest first.
  const absl::btree_map<uint64_t, Client*>& wait_for_replicas() const { return for_replicas_; }

  // A key that was absent is getting a value.
  void NoteCreated(const KeyWish& wish) {
    if (const auto it = keys_.find(wish); it != keys_.end()) MakeReady(*it->second);
  }
  // The database has other keys now, those of `keyspace`. O(keys that clients wait for).
  void NoteReplaced(size_t database, const Keyspace& keyspace);
  // Whether a key has got a value that was not taken by TakeReady.
  bool has_ready() const { return !ready_.empty(); }
  // Takes one of these keys, in the order in which they got their values. It belongs to the caller
  // and stays known until the last client that waits for it is taken.
  struct Ready {
    size_t database;
    Type type;
    std::string key;
  };
  Ready TakeReady();
  // The client that has waited longest for the key; null if there is none.
  Client* First(const Ready& ready) const;

  // The earliest deadline; INT64_MAX if there is none.
  int64_t next_deadline_ms() const {
    return deadlines_.empty() ? INT64_MAX : deadlines_.begin()->first.first;
  }
  // A client whose deadline has passed; null if there is none.
  Client* FirstDue(int64_t now_ms) const {
    return next_deadline_ms() <= now_ms && !deadlines_.empty() ? deadlines_.begin()->second
                                                               : nullptr;
  }

 private:
  void MakeReady(AwaitedKey& key);
  void Leave(AwaitedKey& key, uint64_t number);

  absl::flat_hash_map<KeyWish, std::unique_ptr<AwaitedKey>> keys_;
  absl::btree_map<uint64_t, AwaitedKey*> ready_;                      // by AwaitedKey::ready
  absl::btree_map<uint64_t, Client*> for_replicas_;                   // by number
  absl::btree_map<std::pair<int64_t, uint64_t>, Client*> deadlines_;  // by deadline and number
  size_t clients_ = 0;
  uint64_t last_number_ = 0;
  uint64_t last_ready_ = 0;
};

}  // namespace tally::server
