#include "server/net/listeners.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/v6_only.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cerrno>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/config/config.h"
#include "server/log/log.h"
#include "server/log/trouble_log.h"
#include "server/net/client_refusal.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

// The most connections that one listener accepts in a turn.
constexpr int kMostAccepts = 64;

std::string Describe(const asio::ip::tcp::endpoint& endpoint) {
  return SocketAddress(endpoint.data(), static_cast<socklen_t>(endpoint.size())).text();
}

asio::ip::address HostAddress(const std::string& host, std::error_code& error) {
  if (host == "*" || host == "0.0.0.0") return asio::ip::address_v4::any();
  if (host == "::*") return asio::ip::address_v6::any();
  return asio::ip::make_address(host, error);
}

}  // namespace

// A socket that listens: TCP, or the unix socket if `tcp` is not open.
struct Listeners::Listener final : public EventTarget {
  Listener(Listeners& owner_in, Address address_in)
      : owner(owner_in), address(std::move(address_in)), tcp(*owner_in.io_), local(*owner_in.io_) {}

  void OnEvent(DescriptorEvent event) override;
  int descriptor() { return tcp.is_open() ? tcp.native_handle() : local.native_handle(); }
  // Accepts one connection; the error is would_block if none waits.
  std::error_code AcceptOne() { return tcp.is_open() ? AcceptTcp() : AcceptUnix(); }
  std::error_code AcceptTcp();
  std::error_code AcceptUnix();

  Listeners& owner;
  const Address address;  // as configured
  std::string shown;      // for the log
  asio::ip::tcp::acceptor tcp;
  asio::local::stream_protocol::acceptor local;
};

Listeners::Listeners(EventPoller& poller, Services& server, ConnectionTable& connections)
    : io_(std::make_unique<asio::io_context>()),
      poller_(poller),
      server_(server),
      config_(server.config),
      connections_(connections) {}

Listeners::~Listeners() = default;

absl::Status Listeners::Open() {
  absl::Status status = UpdateAddresses();
  if (status.ok() && !config_.unixsocket.empty()) status = ListenUnix();
  if (status.ok() && listeners_.empty()) {
    server_.log.Warning("No port and no unix socket: nobody can connect.");
  }
  return status;
}

std::vector<Listeners::Address> Listeners::Addresses() const {
  std::vector<Address> all;
  const auto add = [&all](const std::vector<std::string>& hosts, int64_t port, Wire wire) {
    if (port == 0) return;
    for (const std::string& text : hosts) {
      const bool optional = text.starts_with('-');
      all.push_back({optional ? text.substr(1) : text, port, wire, optional});
    }
  };
  add(config_.bind, config_.port, {false, Protocol::kResp});
  add(config_.bind, config_.tls_port, {true, Protocol::kResp});
  add(config_.http_bind, config_.http_port, {config_.http_tls, Protocol::kHttp});
  return all;
}

// Old addresses are closed first: "*" cannot be opened while one address of its port is.
absl::Status Listeners::UpdateAddresses() {
  const bool no_host = (config_.bind.empty() && (config_.port != 0 || config_.tls_port != 0)) ||
                       (config_.http_bind.empty() && config_.http_port != 0);
  if (no_host) return absl::UnavailableError("no address to listen on");
  const std::vector<Address> wanted = Addresses();
  CloseAllBut(wanted);
  for (const Address& address : wanted) {
    absl::Status status = address.wire.tls && tls_ == nullptr ? LoadTls() : absl::OkStatus();
    const auto same = [&](const auto& listener) { return listener->address == address; };
    if (status.ok() && std::none_of(listeners_.begin(), listeners_.end(), same)) {
      status = ListenTcp(address);
    }
    if (!status.ok()) return status;
  }
  for (const Address& address : wanted) {
    const auto serves = [&](const auto& listener) {
      return listener->address.port == address.port && listener->address.wire == address.wire;
    };
    if (std::none_of(listeners_.begin(), listeners_.end(), serves)) {
      return absl::UnavailableError("no address to listen on");
    }
  }
  return absl::OkStatus();
}

void Listeners::CloseAllBut(std::span<const Address> wanted) {
  std::erase_if(listeners_, [&](const std::unique_ptr<Listener>& listener) {
    const bool stays = !listener->tcp.is_open() ||
                       std::find(wanted.begin(), wanted.end(), listener->address) != wanted.end();
    if (!stays) std::erase(waiting_, listener.get());
    if (!stays) std::erase(resting_, listener.get());
    return !stays;
  });
}

std::vector<std::string> Listeners::addresses() const {
  std::vector<std::string> all;
  for (const auto& listener : listeners_) all.push_back(listener->shown);
  return all;
}

// Without a TLS port the files are only tried, so that a wrong path is not found at the next start.
absl::Status Listeners::ReloadTls() { return tls_ == nullptr ? CheckTls(config_) : LoadTls(); }

absl::Status Listeners::LoadTls() {
  auto loaded = TlsContext::Create(config_);
  if (!loaded.ok()) return loaded.status();
  tls_ = *std::move(loaded);
  return absl::OkStatus();
}

absl::Status Listeners::ListenTcp(const Address& wanted) {
  std::error_code error;
  const asio::ip::address address = HostAddress(wanted.host, error);
  auto listener = std::make_unique<Listener>(*this, wanted);
  asio::ip::tcp::acceptor& acceptor = listener->tcp;
  const asio::ip::tcp::endpoint endpoint(address, static_cast<uint16_t>(wanted.port));
  if (!error) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error && address.is_v6()) acceptor.set_option(asio::ip::v6_only(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(static_cast<int>(config_.tcp_backlog), error);
  if (!error) acceptor.non_blocking(true, error);
  if (error) {
    const std::string reason =
        StrCat("cannot listen on ", wanted.host, " port ", wanted.port, ": ", error.message());
    const bool absent =
        error == asio::error::address_family_not_supported || error.value() == EADDRNOTAVAIL;
    if (!wanted.optional || !absent) return absl::UnavailableError(reason);
    server_.log.Verbose("Skipped: ", reason);
    return absl::OkStatus();
  }
  const char* kind = wanted.wire.protocol == Protocol::kHttp
                         ? (wanted.wire.tls ? " (HTTPS)" : " (HTTP)")
                         : (wanted.wire.tls ? " (TLS)" : "");
  listener->shown = Describe(acceptor.local_endpoint()) + kind;
  return Watch(std::move(listener));
}

absl::Status Listeners::ListenUnix() {
  ::unlink(config_.unixsocket.c_str());
  std::error_code error;
  auto listener = std::make_unique<Listener>(*this, Address{});
  asio::local::stream_protocol::acceptor& acceptor = listener->local;
  const asio::local::stream_protocol::endpoint endpoint(config_.unixsocket);
  acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(static_cast<int>(config_.tcp_backlog), error);
  if (!error) acceptor.non_blocking(true, error);
  if (!error && config_.unixsocketperm != 0 &&
      ::chmod(config_.unixsocket.c_str(), static_cast<mode_t>(config_.unixsocketperm)) != 0) {
    error.assign(errno, std::system_category());
  }
  if (error) {
    return absl::UnavailableError(
        StrCat("cannot listen on ", config_.unixsocket, ": ", error.message()));
  }
  listener->shown = config_.unixsocket;
  return Watch(std::move(listener));
}

absl::Status Listeners::Watch(std::unique_ptr<Listener> listener) {
  if (!poller_.Watch(listener->descriptor(), *listener)) {
    return absl::ResourceExhaustedError("the kernel cannot watch one more socket");
  }
  listeners_.push_back(std::move(listener));
  return absl::OkStatus();
}

// It may be reported several times in one turn.
void Listeners::Listener::OnEvent(DescriptorEvent) {
  std::vector<Listener*>& waiting = owner.waiting_;
  if (std::find(waiting.begin(), waiting.end(), this) == waiting.end()) waiting.push_back(this);
}

void Listeners::AcceptWaiting() {
  for (Listener* listener : std::exchange(waiting_, {})) Accept(*listener);
}

void Listeners::Accept(Listener& listener) {
  for (int i = 0; i < kMostAccepts; ++i) {
    const std::error_code error = listener.AcceptOne();
    if (error == asio::error::would_block) return;
    if (error && error != asio::error::connection_aborted) return Rest(listener, error);
  }
}

std::error_code Listeners::Listener::AcceptTcp() {
  std::error_code error;
  std::error_code ignored;
  asio::ip::tcp::socket socket(*owner.io_);
  tcp.accept(socket, error);
  if (error) return error;
  const auto peer = socket.remote_endpoint(ignored);
  const auto here = socket.local_endpoint(ignored);
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  // Sockets without TLS are read and written with calls that do not block anyway.
  if (address.wire.tls) socket.native_non_blocking(true, ignored);
  socket.set_option(asio::socket_base::keep_alive(owner.config_.tcp_keepalive > 0), ignored);
  owner.Admit(socket.release(), address.wire, Describe(peer), Describe(here),
              peer.address().is_loopback());
  return error;
}

std::error_code Listeners::Listener::AcceptUnix() {
  std::error_code error;
  asio::local::stream_protocol::socket socket(*owner.io_);
  local.accept(socket, error);
  if (error) return error;
  const std::string name = owner.config_.unixsocket + ":0";
  owner.Admit(socket.release(), address.wire, name, name, true);
  return error;
}

void Listeners::Rest(Listener& listener, const std::error_code& error) {
  server_.troubles.descriptors.Happens(StrCat("Accepting client connection: ", error.message(),
                                              ". No other is accepted until that is over."),
                                       server_.clock.steady_ms());
  poller_.Rest(listener.descriptor(), listener);
  resting_.push_back(&listener);
}

void Listeners::Wake() {
  for (Listener* listener : std::exchange(resting_, {})) {
    poller_.Resume(listener->descriptor(), *listener);
  }
}

void Listeners::Admit(int socket, Wire wire, std::string peer, std::string local, bool is_local) {
  const std::string refusal = RefusalOf({socket, is_local, wire.protocol}, server_, connections_);
  SslPointer ssl;
  if (wire.tls && refusal.empty()) ssl = tls_->Accept(socket);
  if (!refusal.empty() || (wire.tls && ssl == nullptr)) {
    ++server_.stats.connections_rejected;
    // A client that expects a TLS handshake could not read it.
    if (!wire.tls) {
      static_cast<void>(
          ::send(socket, refusal.data(), refusal.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    }
    ::close(socket);
    return;
  }
  ++server_.stats.connections_received;
  connections_.Open(socket, std::move(ssl), wire.protocol, std::move(peer), std::move(local));
}

}  // namespace tally::server
