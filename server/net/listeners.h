// Opens the addresses to listen on, accepts the connections that are allowed, refuses the others,
// and pauses while the process has no free descriptor.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "server/interfaces/services.h"
#include "server/net/connection_table.h"
#include "server/net/event_poller.h"
#include "server/net/socket_address.h"
#include "server/net/tls/tls_context.h"

namespace asio {
class io_context;
}  // namespace asio

namespace tally::server {

class Listeners {
 public:
  Listeners(EventPoller& poller, Services& server, ConnectionTable& connections);
  ~Listeners();

  // Opens all addresses of the configuration. Returns the first error. An address that begins with
  // '-' may be missing on this machine.
  absl::Status Open();
  // Closes the addresses that the configuration no longer has, and opens the new ones. The others
  // stay open, and so do all connections. Returns the first error.
  absl::Status UpdateAddresses();
  // Reads the certificates again. Existing connections keep the old ones.
  absl::Status ReloadTls();
  // The addresses that it listens on, for the log.
  std::vector<std::string> addresses() const;

  // Accepts the connections that wait. Called at the end of a turn, when those that have closed in
  // it have made room.
  void AcceptWaiting();
  // Makes the paused listeners try again: a connection has closed, or some time has passed.
  void Wake();

 private:
  struct Wire {
    bool tls;
    Protocol protocol;

    bool operator==(const Wire&) const = default;
  };
  struct Address {
    std::string host;
    int64_t port = 0;
    Wire wire{};
    bool optional = false;  // may be missing on this machine

    bool operator==(const Address&) const = default;
  };

  struct Listener;

  // Those of the configuration, for TCP.
  std::vector<Address> Addresses() const;
  void CloseAllBut(std::span<const Address> wanted);
  absl::Status ListenTcp(const Address& wanted);
  absl::Status ListenUnix();
  absl::Status LoadTls();
  absl::Status Watch(std::unique_ptr<Listener> listener);
  // Accepts the connections that wait, at most kMostAccepts of them.
  void Accept(Listener& listener);
  // Takes ownership of the socket: opens a connection on it, or refuses it and closes it.
  void Admit(int socket, Wire wire, std::string peer, std::string local, bool is_local);
  // Has the listener pause until Wake: without a free descriptor each attempt would fail and be
  // repeated at once.
  void Rest(Listener& listener, const std::error_code& error);

  // Opens and accepts for us; its own events are not waited for.
  std::unique_ptr<asio::io_context> io_;
  EventPoller& poller_;
  Services& server_;
  const Config& config_;
  ConnectionTable& connections_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::unique_ptr<TlsContext> tls_;  // null without tls-port and http-tls
  std::vector<Listener*> waiting_;   // have connections to accept in this turn
  std::vector<Listener*> resting_;
};

}  // namespace tally::server
