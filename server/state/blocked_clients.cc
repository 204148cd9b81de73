#include "server/state/blocked_clients.h"

#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "core/keyspace/keyspace.h"

namespace tally::server {
namespace {

// The share of an awaited key that belongs to one of its clients, with its places in the tables.
constexpr size_t kKeyBytes = sizeof(AwaitedKey) + 64;

}  // namespace

void BlockedClients::Block(Client& client, std::unique_ptr<BlockedCommand> command, Args keys) {
  Check(client.blocked == nullptr, "a client waits for one command at a time");
  command->number = ++last_number_;
  for (const std::string_view key : keys) {
    const KeyWish wish{command->database, command->type, key};
    auto it = keys_.find(wish);
    if (it == keys_.end()) {
      auto fresh = std::make_unique<AwaitedKey>(
          AwaitedKey{wish.database, wish.type, std::string(key), {}, 0});
      const KeyWish own = fresh->wish();
      it = keys_.emplace(own, std::move(fresh)).first;
    }
    AwaitedKey& awaited = *it->second;
    if (awaited.clients.emplace(command->number, &client).second) command->keys.push_back(&awaited);
  }
  command->bytes = sizeof(BlockedCommand) + command->keys.size() * kKeyBytes;
  for (const std::string& arg : command->args) command->bytes += sizeof arg + 2 * arg.size();
  if (command->replicas > 0) for_replicas_.emplace(command->number, &client);
  if (command->deadline_ms != INT64_MAX) {
    deadlines_.emplace(std::pair(command->deadline_ms, command->number), &client);
  }
  client.blocked = std::move(command);
  client.state.command.Block();
  ++clients_;
}

std::unique_ptr<BlockedCommand> BlockedClients::Take(Client& client) {
  if (client.blocked == nullptr) return nullptr;
  std::unique_ptr<BlockedCommand> command = std::move(client.blocked);
  for (AwaitedKey* const key : command->keys) Leave(*key, command->number);
  deadlines_.erase({command->deadline_ms, command->number});
  for_replicas_.erase(command->number);
  client.state.command.Unblock();
  --clients_;
  return command;
}

void BlockedClients::Leave(AwaitedKey& key, uint64_t number) {
  key.clients.erase(number);
  if (!key.clients.empty()) return;
  if (key.ready != 0) ready_.erase(key.ready);
  keys_.erase(key.wish());
}

void BlockedClients::MakeReady(AwaitedKey& key) {
  if (key.ready != 0) return;
  key.ready = ++last_ready_;
  ready_.emplace(key.ready, &key);
}

// Who waits longest is served first.
void BlockedClients::NoteReplaced(size_t database, const Keyspace& keyspace) {
  std::vector<AwaitedKey*> awaited;
  for (const auto& [wish, key] : keys_) {
    if (wish.database != database) continue;
    const Keyspace::Entry entry = keyspace.Peek(wish.key);
    if (entry && entry.type() == wish.type) awaited.push_back(key.get());
  }
  std::sort(awaited.begin(), awaited.end(), [](const AwaitedKey* one, const AwaitedKey* other) {
    return std::pair(one->clients.begin()->first, std::string_view(one->key)) <
           std::pair(other->clients.begin()->first, std::string_view(other->key));
  });
  for (AwaitedKey* const key : awaited) MakeReady(*key);
}

BlockedClients::Ready BlockedClients::TakeReady() {
  AwaitedKey& key = *ready_.begin()->second;
  ready_.erase(ready_.begin());
  key.ready = 0;
  return {key.database, key.type, key.key};
}

Client* BlockedClients::First(const Ready& ready) const {
  const auto it = keys_.find(KeyWish{ready.database, ready.type, ready.key});
  return it == keys_.end() ? nullptr : it->second->clients.begin()->second;
}

}  // namespace tally::server
