#include "server/process/ping.h"

#include <array>
#include <memory>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/net/event_poller.h"
#include "server/net/peer_socket.h"
#include "server/net/timer.h"
#include "server/net/tls/tls_context.h"

namespace tally::server {
namespace {

constexpr size_t kMostReply = 1024;

// The address that reaches a server listening on `host`.
std::string Reachable(const std::string& host) {
  if (host == "*" || host == "0.0.0.0") return "127.0.0.1";
  if (host == "::*" || host == "::") return "::1";
  return host.starts_with('-') ? host.substr(1) : host;
}

absl::StatusOr<SocketAddress> AddressOf(const Config& config) {
  if (!config.unixsocket.empty()) return SocketAddress::FromPath(config.unixsocket);
  const int64_t port = config.port != 0 ? config.port : config.tls_port;
  if (port == 0 || config.bind.empty()) {
    return absl::FailedPreconditionError(
        "the configuration has no port, tls-port or unixsocket to ask at");
  }
  return SocketAddress::FromFigures(Reachable(config.bind.front()), static_cast<uint16_t>(port));
}

// One connection that asks PING.
class Question {
 public:
  Question() : deadline_(poller_, [this] { is_late_ = true; }), socket_(poller_) {}

  absl::StatusOr<std::string> Ask(const SocketAddress& address, std::unique_ptr<TlsContext> tls,
                                  std::chrono::milliseconds wait) {
    deadline_.ExpireAfter(wait);
    socket_.Open(address, std::move(tls));
    for (bool has_asked = false; !is_late_; poller_.Poll(false)) {
      if (absl::Status status = socket_.Continue(); !status.ok()) return status;
      if (socket_.state() != PeerSocket::State::kConnected) continue;
      if (!std::exchange(has_asked, true)) socket_.Send("PING\r\n");
      const bool sent = socket_.Flush();
      const bool goes_on = sent && Receive();
      if (const size_t end = reply_.find_first_of("\r\n"); end != std::string::npos) {
        return reply_.substr(0, end);
      }
      if (!goes_on) return absl::UnavailableError("the connection ended before an answer");
    }
    return absl::UnavailableError("no answer in time");
  }

 private:
  // Returns false if no more will come, or more than an answer to PING has.
  bool Receive() {
    std::array<char, kMostReply> some;
    while (socket_.HasEvent()) {
      const Stream::Received received = socket_.Read(some);
      reply_.append(some.data(), received.bytes);
      if (received.ended || reply_.size() > kMostReply) return false;
    }
    return true;
  }

  EventPoller poller_;
  bool is_late_ = false;
  Timer deadline_;
  PeerSocket socket_;
  std::string reply_;
};

absl::StatusOr<std::string> Reply(const Config& config, std::chrono::milliseconds wait) {
  const absl::StatusOr<SocketAddress> address = AddressOf(config);
  if (!address.ok()) return address.status();
  std::unique_ptr<TlsContext> tls;
  if (config.unixsocket.empty() && config.port == 0) {
    // Only whether the server answers matters. A key that it does not ask for need not be readable.
    Config shown = config;
    if (config.tls_auth_clients == TlsClientAuth::kNo) shown.tls_cert_file.clear();
    auto made = TlsContext::CreateForAnyPeer(shown);
    if (!made.ok()) return made.status();
    tls = *std::move(made);
  }
  return Question().Ask(*address, std::move(tls), wait);
}

}  // namespace

absl::StatusOr<std::string> Ping(const Config& config, std::chrono::milliseconds wait) {
  absl::StatusOr<std::string> reply = Reply(config, wait);
  if (!reply.ok() || *reply == "+PONG" || reply->starts_with("-NOAUTH")) return reply;
  return absl::FailedPreconditionError(*reply);
}

}  // namespace tally::server
