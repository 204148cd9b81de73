#include "server/process/supervisor.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace tally::server {
namespace {

constexpr int64_t kTellEveryMicros = 1'000'000;

}  // namespace

Supervisor Supervisor::FromEnvironment(Supervision supervision) {
  const bool wanted = supervision == Supervision::kSystemd || supervision == Supervision::kAuto;
  const char* const socket = wanted ? std::getenv("NOTIFY_SOCKET") : nullptr;
  return Supervisor(socket == nullptr ? "" : socket);
}

absl::Status Supervisor::Ready() const { return Tell("READY=1\nSTATUS=Serving"); }

absl::Status Supervisor::Loading(int64_t now_us) {
  if (told_us_ && now_us - *told_us_ < kTellEveryMicros) return absl::OkStatus();
  told_us_ = now_us;
  return Tell("STATUS=Loading\nEXTEND_TIMEOUT_USEC=60000000");
}

absl::Status Supervisor::Stopping() const { return Tell("STOPPING=1\nSTATUS=Stopping"); }

// Never waits: a supervisor that does not read must not delay the server.
absl::Status Supervisor::Tell(std::string_view state) const {
  if (!present()) return absl::OkStatus();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.size() >= sizeof(address.sun_path)) {
    return absl::InvalidArgumentError("NOTIFY_SOCKET is too long");
  }
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const int descriptor = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, "socket");
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  const ssize_t sent = ::sendto(descriptor, state.data(), state.size(), MSG_NOSIGNAL,
                                reinterpret_cast<const sockaddr*>(&address), length);
  const int error = errno;
  ::close(descriptor);
  return sent >= 0 ? absl::OkStatus() : absl::ErrnoToStatus(error, "NOTIFY_SOCKET");
}

absl::Status Daemonize() {
  const pid_t child = ::fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "fork");
  if (child > 0) ::_exit(0);
  ::setsid();
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nowhere < 0) return absl::ErrnoToStatus(errno, "/dev/null");
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (nowhere != standard) ::dup2(nowhere, standard);
  }
  if (nowhere > STDERR_FILENO) ::close(nowhere);
  return absl::OkStatus();
}

}  // namespace tally::server
