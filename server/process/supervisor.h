// Reports the state of the server to systemd, with the datagrams of sd_notify(3) but without its
// library.
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
  // `socket` is the address for the datagrams: a path, or an abstract name that begins with '@'. If
  // it is empty, nothing is sent.
  explicit Supervisor(std::string socket) : socket_(std::move(socket)) {}
  // Reports to $NOTIFY_SOCKET if `supervised` is systemd or auto, otherwise to nobody.
  static Supervisor FromEnvironment(Supervision supervision);

  bool present() const { return !socket_.empty(); }

  // Reports that the data is loaded and clients are served.
  absl::Status Ready() const;
  // Reports that loading goes on and asks for 60 s more, at most once a second. `now_us` is of a
  // monotonic clock.
  absl::Status Loading(int64_t now_us);
  // Reports that the server is ending, which may take as long as writing a snapshot.
  absl::Status Stopping() const;

 private:
  absl::Status Tell(std::string_view state) const;

  std::string socket_;
  std::optional<int64_t> told_us_;
};

// Goes on in the background without a terminal. The process that was started exits with 0.
absl::Status Daemonize();

}  // namespace tally::server
