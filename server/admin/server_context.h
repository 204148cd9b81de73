// What the handler of a command that administers the server gets: the call, and the client that
// made it. A handler that needs parts of the server takes those of its family as a second argument.
#pragma once

#include <memory>
#include <tuple>

#include "server/acl/acl_check.h"
#include "server/admin/parts.h"
#include "server/command/command_context.h"
#include "server/state/client.h"

namespace tally::server {

class ServerContext final : public CommandContext {
 public:
  ServerContext(CommandHost& host_in, const AdminParts& parts, Client& client_in, const Call& call)
      : CommandContext(host_in, client_in.reply, call), client(client_in), parts_(parts) {}

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

  template <auto kRun>
  friend void Serve(ServerContext& context);

  template <typename Parts>
  void RunWithParts(void (*run)(ServerContext& context, const Parts& server)) {
    run(*this, std::get<Parts>(parts_.families));
  }

  const ReadRights& rights() const {
    if (rights_ == nullptr) rights_ = std::make_unique<ReadRights>(client.acl.get(), item, args);
    return *rights_;
  }

  const AdminParts& parts_;
  mutable std::unique_ptr<ReadRights> rights_;  // null before the first use
};

// The handler of a row whose function takes its family's parts.
template <auto kRun>
void Serve(ServerContext& context) {
  context.RunWithParts(kRun);
}

}  // namespace tally::server
