// What the handler of a command that administers the server gets: the call, and the client that
// made it. A handler that needs parts of the server takes Services as a second argument.
#pragma once

#include <memory>

#include "server/acl/acl_check.h"
#include "server/command/command_context.h"
#include "server/interfaces/services.h"
#include "server/state/client.h"

namespace tally::server {

class ServerContext final : public CommandContext {
 public:
  ServerContext(Services& server_in, Client& client_in, const Call& call)
      : CommandContext(server_in.host, client_in.reply, call),
        server(server_in),
        client(client_in) {}

  Services& server;
  Client& client;

  // Keeps the memory taken from the request until the command ends. Monitors and the slow log read
  // the arguments after the handler, when an output that is full may have dropped that memory.
  void KeepRequest(const SharedBytes& taken) { client.taken_request = taken; }

  bool MayRead(std::string_view key) const override { return rights().MayRead(key); }
  bool MayReadEveryKey() const override { return rights().MayReadEveryKey(); }
  bool InScript() const override { return client.of_scripts; }
  bool WaitFor(Type type, Args keys, int64_t timeout_ms) override;
  // The client waits until so many replicas have acknowledged the stream up to `offset`; the reply
  // is then how many have. Returns false if the caller does not wait.
  bool WaitForReplicas(size_t replicas, uint64_t offset, int64_t timeout_ms);

 private:
  // Makes the command wait. `timeout_ms` 0: for ever.
  void Block(std::unique_ptr<BlockedCommand> command, Args keys, int64_t timeout_ms);

  const ReadRights& rights() const {
    if (rights_ == nullptr) rights_ = std::make_unique<ReadRights>(client.acl.get(), entry, args);
    return *rights_;
  }

  mutable std::unique_ptr<ReadRights> rights_;  // null before the first use
};

// The handler of a row whose function takes the parts of the server.
template <void (*kRun)(ServerContext& context, Services& server)>
void Serve(ServerContext& context) {
  kRun(context, context.server);
}

}  // namespace tally::server
