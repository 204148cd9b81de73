// The address of one end of a connection: an IP address and a port, or the path of a unix socket.
#pragma once

#include <absl/status/statusor.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace tally::server {

class SocketAddress {
 public:
  // `host` is an IPv4 or IPv6 address in figures. InvalidArgument if it is anything else.
  static absl::StatusOr<SocketAddress> FromFigures(const std::string& host, uint16_t port);
  // Requires a path that the kernel takes, of at most 107 bytes: longer ones are no `unixsocket`.
  static SocketAddress FromPath(const std::string& path);
  // Of this end of a connected socket.
  static SocketAddress LocalOf(int socket);

  // `data` is one of the kernel's addresses, of `size` bytes.
  SocketAddress(const sockaddr* data, socklen_t size);

  const sockaddr* data() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t size() const { return size_; }
  int family() const { return storage_.ss_family; }
  // 0 for a path.
  uint16_t port() const;
  // As CLIENT LIST shows it: 127.0.0.1:7379, [::1]:7379. Empty for a path.
  std::string text() const;

 private:
  sockaddr_storage storage_{};
  socklen_t size_;
};

}  // namespace tally::server
