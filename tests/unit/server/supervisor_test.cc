#include "server/process/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tally::server::supervisor_test {
namespace {

// What systemd has: a socket that datagrams come to.
class Listener {
 public:
  explicit Listener(const std::string& name) : name_(name) {
    descriptor_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    REQUIRE(::bind(descriptor_, reinterpret_cast<const sockaddr*>(&address), length) == 0);
  }
  ~Listener() {
    ::close(descriptor_);
    if (name_[0] != '@') ::unlink(name_.c_str());
  }

  // The next datagram, or "nothing".
  std::string Next() const {
    char buffer[256];
    const ssize_t size = ::recv(descriptor_, buffer, sizeof(buffer), 0);
    return size < 0 ? "nothing" : std::string(buffer, static_cast<size_t>(size));
  }

 private:
  std::string name_;
  int descriptor_;
};

std::string NewName() { return "/tmp/tally_notify_" + std::to_string(::getpid()); }

}  // namespace

TEST_CASE("supervisor: is told of loading once a second, of serving and of the end") {
  for (const std::string& name : {NewName(), "@" + NewName()}) {
    const Listener listener(name);
    Supervisor supervisor(name);
    CHECK(supervisor.present());
    REQUIRE(supervisor.Loading(0).ok());
    CHECK(listener.Next() == "STATUS=Loading\nEXTEND_TIMEOUT_USEC=60000000");
    REQUIRE(supervisor.Loading(999'999).ok());
    CHECK(listener.Next() == "nothing");
    REQUIRE(supervisor.Loading(1'000'000).ok());
    CHECK(listener.Next() != "nothing");
    REQUIRE(supervisor.Ready().ok());
    CHECK(listener.Next() == "READY=1\nSTATUS=Serving");
    REQUIRE(supervisor.Stopping().ok());
    CHECK(listener.Next() == "STOPPING=1\nSTATUS=Stopping");
  }
}

TEST_CASE("supervisor: without one nothing is sent, and one that is gone is an error") {
  Supervisor none("");
  CHECK_FALSE(none.present());
  CHECK(none.Ready().ok());
  CHECK_FALSE(Supervisor(NewName()).Ready().ok());
  CHECK_FALSE(Supervisor(std::string(108, 'x')).Ready().ok());
}

TEST_CASE("supervisor: one that does not read never holds the server up") {
  const std::string name = NewName();
  const Listener listener(name);
  const Supervisor supervisor(name);
  absl::Status status;
  for (int i = 0; i < 100'000 && status.ok(); ++i) status = supervisor.Ready();
  CHECK_FALSE(status.ok());
}

TEST_CASE("supervisor: the environment says who it is, unless supervised is no") {
  ::setenv("NOTIFY_SOCKET", "/somewhere", 1);
  CHECK(Supervisor::FromEnvironment(Supervision::kAuto).present());
  CHECK(Supervisor::FromEnvironment(Supervision::kSystemd).present());
  CHECK_FALSE(Supervisor::FromEnvironment(Supervision::kNo).present());
  CHECK_FALSE(Supervisor::FromEnvironment(Supervision::kUpstart).present());
  ::unsetenv("NOTIFY_SOCKET");
  CHECK_FALSE(Supervisor::FromEnvironment(Supervision::kSystemd).present());
}

}  // namespace tally::server::supervisor_test
