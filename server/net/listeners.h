// Opens the addresses to listen on, accepts the connections that are allowed, refuses the others,
// and pauses while the process has no free descriptor.
#pragma once

#include <absl/status/status.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "server/dispatch/services.h"
#include "server/net/connection_table.h"
#include "server/net/tls/tls_context.h"
#include "server/net/turn_clock.h"

namespace tally::server {

class Listeners {
 public:
  Listeners(asio::io_context& io, Services& server, ConnectionTable& connections,
            TurnClock& turn_clock);

  // Opens all addresses of the configuration. Returns the first error. An address that begins with
  // '-' may be missing on this machine.
  absl::Status Open();
  // Reads the certificates again. Existing connections keep the old ones.
  absl::Status ReloadTls();
  // The addresses that it listens on, for the log.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // Makes the paused listeners try again: a connection has closed, or some time has passed.
  void Wake();

 private:
  using TcpAcceptor = asio::ip::tcp::acceptor;
  using UnixAcceptor = asio::local::stream_protocol::acceptor;

  struct Wire {
    bool tls;
    Protocol protocol;
  };

  absl::Status ListenOnAll(const std::vector<std::string>& hosts, int64_t port, Wire wire);
  absl::Status ListenTcp(const std::string& host, int64_t port, Wire wire, bool optional);
  absl::Status ListenUnix();
  absl::Status LoadTls();
  void AcceptTcp(TcpAcceptor& acceptor, Wire wire);
  void AcceptUnix(UnixAcceptor& acceptor);
  // Takes ownership of the socket: opens a connection on it, or refuses it and closes it.
  void Admit(int socket, Wire wire, std::string peer, std::string local, bool is_local);
  // The error reply for a new connection that is not admitted; empty if it is admitted.
  std::string Refusal(int socket, bool is_local, Protocol protocol);
  // Called after an attempt to accept. Returns whether the listener accepts the next connection
  // now. If not, it pauses until Wake calls `again`.
  bool KeepsAccepting(const std::error_code& error, std::function<void()> again);

  asio::io_context& io_;
  Services& server_;
  const Config& config_;
  ConnectionTable& connections_;
  TurnClock& turn_clock_;
  std::vector<std::unique_ptr<TcpAcceptor>> tcp_;
  std::unique_ptr<UnixAcceptor> unix_;
  std::vector<std::string> addresses_;
  std::unique_ptr<TlsContext> tls_;             // null without tls-port and http-tls
  std::vector<std::function<void()>> resting_;  // each makes a paused listener try again
};

}  // namespace tally::server
