#include "server/ping.h"

#include <sys/socket.h>
#include <sys/time.h>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/read_until.hpp>
#include <asio/write.hpp>
#include <system_error>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

constexpr int kWaitSeconds = 5;
constexpr size_t kMaxReply = 1024;

absl::Status Failed(std::string_view step, const std::error_code& error) {
  return absl::UnavailableError(StrCat(step, ": ", error.message()));
}

// The address that reaches a server listening on `host`.
asio::ip::address Reachable(const std::string& host, std::error_code& error) {
  if (host == "*" || host == "0.0.0.0") return asio::ip::address_v4::loopback();
  if (host == "::*" || host == "::") return asio::ip::address_v6::loopback();
  return asio::ip::make_address(host.starts_with('-') ? host.substr(1) : host, error);
}

// Sets the time limit of the socket; the limit for sending holds for connecting too.
template <typename Socket>
void LimitWaiting(Socket& socket) {
  const timeval limit{kWaitSeconds, 0};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    ::setsockopt(socket.native_handle(), SOL_SOCKET, option, &limit, sizeof(limit));
  }
}

template <typename Socket, typename Endpoint>
absl::StatusOr<std::string> Ask(Socket& socket, const Endpoint& endpoint) {
  std::error_code error;
  socket.open(endpoint.protocol(), error);
  if (error) return Failed("socket", error);
  LimitWaiting(socket);
  socket.connect(endpoint, error);
  if (error) return Failed("connect", error);
  asio::write(socket, asio::buffer("PING\r\n", 6), error);
  if (error) return Failed("send", error);
  std::string reply;
  asio::read_until(socket, asio::dynamic_buffer(reply, kMaxReply), '\n', error);
  if (error) return Failed("receive", error);
  reply.resize(reply.find_first_of("\r\n"));
  return reply;
}

absl::StatusOr<std::string> Reply(const Config& config) {
  asio::io_context io;
  if (!config.unixsocket.empty()) {
    asio::local::stream_protocol::socket socket(io);
    return Ask(socket, asio::local::stream_protocol::endpoint(config.unixsocket));
  }
  if (config.port == 0 || config.bind.empty()) {
    return absl::FailedPreconditionError(
        "the configuration has neither a port without TLS nor a unixsocket to ask at");
  }
  std::error_code error;
  const asio::ip::address address = Reachable(config.bind.front(), error);
  if (error) return Failed(config.bind.front(), error);
  asio::ip::tcp::socket socket(io);
  return Ask(socket, asio::ip::tcp::endpoint(address, static_cast<uint16_t>(config.port)));
}

}  // namespace

absl::StatusOr<std::string> Ping(const Config& config) {
  absl::StatusOr<std::string> reply = Reply(config);
  if (!reply.ok() || *reply == "+PONG" || reply->starts_with("-NOAUTH")) return reply;
  return absl::FailedPreconditionError(*reply);
}

}  // namespace tally::server
