#include "server/net/socket_address.h"

#include <algorithm>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <cstring>
#include <system_error>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

asio::ip::tcp::endpoint EndpointOf(const SocketAddress& address) {
  asio::ip::tcp::endpoint endpoint;
  if (address.family() == AF_INET || address.family() == AF_INET6) {
    std::memcpy(endpoint.data(), address.data(),
                std::min<size_t>(address.size(), endpoint.capacity()));
  }
  return endpoint;
}

}  // namespace

absl::StatusOr<SocketAddress> SocketAddress::FromFigures(const std::string& host, uint16_t port) {
  std::error_code error;
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(host, error), port);
  if (error) return absl::InvalidArgumentError(StrCat(host, ": ", error.message()));
  return SocketAddress(endpoint.data(), static_cast<socklen_t>(endpoint.size()));
}

SocketAddress SocketAddress::FromPath(const std::string& path) {
  const asio::local::stream_protocol::endpoint endpoint(path);
  return SocketAddress(endpoint.data(), static_cast<socklen_t>(endpoint.size()));
}

SocketAddress SocketAddress::LocalOf(int socket) {
  sockaddr_storage local{};
  socklen_t size = sizeof local;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&local), &size);
  return SocketAddress(reinterpret_cast<const sockaddr*>(&local), size);
}

SocketAddress::SocketAddress(const sockaddr* data, socklen_t size)
    : size_(std::min<socklen_t>(size, sizeof storage_)) {
  std::memcpy(&storage_, data, size_);
}

uint16_t SocketAddress::port() const { return EndpointOf(*this).port(); }

std::string SocketAddress::text() const {
  if (family() != AF_INET && family() != AF_INET6) return {};
  const asio::ip::tcp::endpoint endpoint = EndpointOf(*this);
  const std::string host = endpoint.address().to_string();
  return family() == AF_INET6 ? StrCat("[", host, "]:", endpoint.port())
                              : StrCat(host, ":", endpoint.port());
}

}  // namespace tally::server
