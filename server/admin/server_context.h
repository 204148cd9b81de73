// What the handler of a command that administers the server gets: the call, who made it, and the
// parts of the server.
#pragma once

#include <memory>

#include "server/acl/acl_check.h"
#include "server/command/command_context.h"
#include "server/state/client.h"
#include "server/state/services.h"

namespace tally::server {

class ServerContext final : public CommandContext {
 public:
  ServerContext(Services& server_in, Client& client_in, const Call& call)
      : CommandContext(server_in.host, client_in.reply, call),
        server(server_in),
        client(client_in) {}

  Services& server;
  Client& client;

  // Keeps what was taken from the request until the command is over: an output that is full may
  // have dropped it, but monitors and the slow log still read the arguments.
  void KeepRequest(const SharedBytes& taken) { client.taken_request = taken; }

  bool MayRead(std::string_view key) const override { return rights().MayRead(key); }
  bool MayReadEveryKey() const override { return rights().MayReadEveryKey(); }

 private:
  const ReadRights& rights() const {
    if (rights_ == nullptr) rights_ = std::make_unique<ReadRights>(client.acl.get(), item, args);
    return *rights_;
  }

  mutable std::unique_ptr<ReadRights> rights_;  // null until it is asked for
};

}  // namespace tally::server
