#include "server/admin/server_context.h"

#include <utility>

#include "core/base/saturating.h"
#include "server/effects/effect_stream.h"
#include "server/state/blocked_clients.h"
#include "server/state/clock.h"

namespace tally::server {

bool ServerContext::WaitFor(Type type, Args keys, int64_t timeout_ms) {
  if (replaying || has_waited() || host.effects.in_block()) return false;
  auto command = std::make_unique<BlockedCommand>();
  command->type = type;
  Block(std::move(command), keys, timeout_ms);
  return true;
}

bool ServerContext::WaitForReplicas(size_t replicas, uint64_t offset, int64_t timeout_ms) {
  if (replaying || host.effects.in_block()) return false;
  auto command = std::make_unique<BlockedCommand>();
  command->replicas = replicas;
  command->offset = offset;
  Block(std::move(command), {}, timeout_ms);
  return true;
}

void ServerContext::Block(std::unique_ptr<BlockedCommand> command, Args keys, int64_t timeout_ms) {
  command->entry = &entry;
  command->args.assign(args.begin(), args.end());
  command->database = database;
  if (timeout_ms > 0) {
    command->deadline_ms = SaturatingAdd(server.clock.steady_ms(), timeout_ms);
  }
  server.blocked.Block(client, std::move(command), keys);
}

}  // namespace tally::server
