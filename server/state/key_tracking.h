// CLIENT TRACKING: tells clients that cache what they read which keys have changed. The keys of a
// read are remembered until they change; a client in broadcasting mode gets, once a turn, all
// changed keys under its prefixes. Keys are the same in all databases, as in Redis.
//
// Costs a branch for each change, and one for each command, while no client tracks.
#pragma once

#include <absl/container/btree_map.h>
#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/state/client.h"
#include "server/state/client_table.h"
#include "server/state/tracked_keys.h"

namespace tally::server {

class KeyTracking {
 public:
  KeyTracking(ClientTable& clients, const Config& config, uint64_t seed)
      : clients_(clients), config_(config), random_(seed), read_(seed) {}

  // Turns tracking on, or changes how it is done; `wanted` may only extend the prefixes that the
  // client has, and the caller has checked that the modes agree.
  void Start(Client& client, const Tracking& wanted);
  // Has no effect if the client does not track. When nobody tracks any more, nothing is remembered.
  void Stop(Client& client);
  bool active() const { return tracking_clients_ > 0; }

  // Says who makes the changes that are reported from now on; 0: the server itself.
  void set_author(uint64_t client) { author_ = client; }
  // A client that tracks has run a command; remembers the keys that it has read, unless the reply
  // is one that changes without them.
  void NoteRead(Client& client, const CommandEntry& entry, Args args);
  // The same for a read that a script of the client has made: `keys` are those that the script was
  // called with.
  void NoteScriptRead(Client& client, const CommandEntry& entry, Args keys);
  // A client that tracks has finished a request, or was refused.
  static void EndRequest(Client& client, bool keeps_caching);

  // A key has changed or is gone. O(clients that have read it + lengths of prefixes).
  void Changed(std::string_view key);
  // The same for what the server does by itself: expiry and eviction.
  void ChangedByServer(std::string_view key);
  // Anything may have changed.
  void AllChanged();

  // Called at the end of each turn: sends what clients in broadcasting mode wait for, and forgets
  // some keys if there are more than tracking-table-max-keys. Clients are told that these changed.
  void FinishTurn();
  // Whether the next turn has keys to forget.
  bool has_work() const { return active() && over_limit(); }

  size_t clients() const { return tracking_clients_; }
  size_t keys() const { return read_.keys(); }
  size_t items() const { return read_.items(); }
  size_t prefixes() const { return prefixes_.size(); }

 private:
  class Message;
  struct Prefix {
    absl::btree_map<uint64_t, Client*> clients;
    // The keys that have changed in this turn, and who changed them last.
    absl::btree_map<std::string, uint64_t> changed;
  };

  bool over_limit() const {
    return config_.tracking_table_max_keys != 0 &&
           read_.keys() > static_cast<uint64_t>(config_.tracking_table_max_keys);
  }
  void Remember(Client& client, std::string_view key);
  void ForgetOne();
  // Tells the clients that have read the key, and forgets it.
  void Invalidate(std::string_view key);
  void AddToBroadcasts(std::string_view key, uint64_t author);
  void SendBroadcast(Prefix& prefix);
  void Send(Client& client, Message& message);
  void TellBrokenRedirect(Client& client);
  void Join(Client& client, const std::string& prefix);
  void Leave(Client& client, const std::string& prefix);

  ClientTable& clients_;
  const Config& config_;
  std::mt19937_64 random_;
  size_t tracking_clients_ = 0;
  uint64_t author_ = 0;

  TrackedKeys read_;
  std::vector<uint64_t> readers_;  // of the key that has just changed

  absl::flat_hash_map<std::string, std::unique_ptr<Prefix>> prefixes_;
  absl::btree_map<size_t, size_t> lengths_;  // how many prefixes have this length
  std::vector<Prefix*> waiting_;             // prefixes with changed keys
};

}  // namespace tally::server
