// Reports to systemd how far the server is: the datagrams of sd_notify(3), without its library.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "server/config/config.h"

namespace tally::server {

class Supervisor {
 public:
  // `socket` is where the datagrams go: a path, or an abstract name that begins with '@'; empty for
  // nobody.
  explicit Supervisor(std::string socket) : socket_(std::move(socket)) {}
  // As `supervised` says, to $NOTIFY_SOCKET.
  static Supervisor FromEnvironment(Supervision supervision);

  bool present() const { return !socket_.empty(); }

  // The data is loaded, and clients are served.
  absl::Status Ready() const;
  // Loading goes on: asks for more time, at most once a second.
  absl::Status Loading(int64_t now_us);
  // The server ends, which may take as long as writing a snapshot.
  absl::Status Stopping() const;

 private:
  absl::Status Tell(std::string_view state) const;

  std::string socket_;
  std::optional<int64_t> told_us_;
};

// Leaves the terminal and goes on in the background; the process that was started ends with 0.
absl::Status Daemonize();

}  // namespace tally::server
