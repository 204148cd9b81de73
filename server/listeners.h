// Listens: opens the addresses, accepts who may come in, refuses the others, and rests while the
// process has no descriptor left.
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

#include "server/connection_table.h"
#include "server/state/services.h"
#include "server/tls/tls_context.h"
#include "server/turn_clock.h"

namespace tally::server {

class Listeners {
 public:
  Listeners(asio::io_context& io, Services& server, ConnectionTable& connections,
            TurnClock& turn_clock);

  // Opens all that the configuration names; what fails is reported.
  absl::Status Open();
  // Reads the certificates again. Connections that are there keep what they have.
  absl::Status ReloadTls();
  // Where it listens, for the log and for `port 0`.
  const std::vector<std::string>& addresses() const { return addresses_; }

  // Has those that rest try again: a connection has closed, or some time has passed.
  void Wake();
  // Says in the log, a while after the last failure, that connections come in again.
  void ReportRecovery();

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
  // Takes the socket over.
  void Admit(int socket, Wire wire, std::string peer, std::string local, bool is_local);
  // Why a new connection is not admitted, as an error reply; empty if it is.
  std::string Refusal(bool is_local, Protocol protocol) const;
  // After an attempt to accept: whether the listener goes on at once. If not, it rests, and goes on
  // with `again`.
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
  std::vector<std::function<void()>> resting_;  // what has them try again
  int64_t failed_ms_ = 0;  // when accepting last failed; 0: the log has said since that it works
};

}  // namespace tally::server
