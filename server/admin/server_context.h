// What the handler of a command that administers the server gets: the call, who made it, and the
// parts of the server.
#pragma once

#include <optional>

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

  bool MayRead(std::string_view key) const override { return rights().MayRead(key); }
  bool MayReadEveryKey() const override { return rights().MayReadEveryKey(); }

 private:
  const ReadRights& rights() const {
    if (!rights_) rights_.emplace(client.acl.get(), item, args);
    return *rights_;
  }

  mutable std::optional<ReadRights> rights_;
};

}  // namespace tally::server
