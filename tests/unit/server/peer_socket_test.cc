// The socket to another server: names, several addresses, and what goes wrong while it connects.
#include "server/net/peer_socket.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <cerrno>
#include <chrono>
#include <string>
#include <vector>

#include "server/net/timer.h"

namespace tally::server::peer_socket_test {
namespace {

using State = PeerSocket::State;

// Takes the connections to a port of 127.0.0.1 that the system chooses.
class Listener {
 public:
  Listener() {
    const SocketAddress any = *SocketAddress::FromFigures("127.0.0.1", 0);
    REQUIRE(::bind(socket_, any.data(), any.size()) == 0);
    REQUIRE(::listen(socket_, 8) == 0);
  }
  ~Listener() { ::close(socket_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  uint16_t port() const { return SocketAddress::LocalOf(socket_).port(); }
  int Accept() const { return ::accept(socket_, nullptr, nullptr); }

 private:
  const int socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
};

// Goes on until it is connected or has failed; names are looked for every few milliseconds.
absl::Status Connect(EventPoller& poller, PeerSocket& socket) {
  Timer ticks(poller, [] {});
  ticks.ExpireEvery(std::chrono::milliseconds(5));
  while (true) {
    absl::Status status = socket.Continue();
    if (!status.ok() || socket.state() == State::kConnected) return status;
    poller.Poll(false);
  }
}

TEST_CASE("peer socket: connects to an address in figures and to a name, and carries bytes") {
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const Listener listener;
    EventPoller poller;
    PeerSocket socket(poller);
    socket.Open(host, listener.port(), nullptr);
    REQUIRE(Connect(poller, socket).ok());
    CHECK(socket.LocalAddress().starts_with("127.0.0.1:"));
    const int accepted = listener.Accept();
    socket.Send("ask");
    REQUIRE(socket.Flush());
    std::array<char, 8> bytes{};
    CHECK(::recv(accepted, bytes.data(), bytes.size(), 0) == 3);
    ::close(accepted);
  }
}

TEST_CASE("peer socket: the end of the stream is seen when it comes with the last bytes") {
  const Listener listener;
  EventPoller poller;
  PeerSocket socket(poller);
  socket.Open("127.0.0.1", listener.port(), nullptr);
  REQUIRE(Connect(poller, socket).ok());
  std::array<char, 8> bytes{};
  CHECK(socket.Read(bytes).drained);
  CHECK_FALSE(socket.HasEvent());
  const int accepted = listener.Accept();
  CHECK(::send(accepted, "last", 4, 0) == 4);
  ::close(accepted);
  std::string received;
  for (poller.Poll(false); socket.HasEvent();) {
    const Stream::Received some = socket.Read(bytes);
    received.append(bytes.data(), some.bytes);
    if (some.ended) socket.Close();
  }
  CHECK(received == "last");
  CHECK(socket.state() == State::kClosed);
}

TEST_CASE("peer socket: a name that nobody has is an error that says so") {
  EventPoller poller;
  PeerSocket socket(poller);
  socket.Open("no-such-name.invalid", 6379, nullptr);
  CHECK(socket.state() == State::kFinding);
  const absl::Status status = Connect(poller, socket);
  CHECK(std::string(status.message()).starts_with("the name no-such-name.invalid is not found: "));
  CHECK(socket.state() == State::kClosed);
}

TEST_CASE("peer socket: a search that was given up is nobody's; the next one is its own") {
  const Listener listener;
  EventPoller poller;
  PeerSocket socket(poller);
  for (int i = 0; i < 20; ++i) socket.Open("localhost", 1, nullptr);
  socket.Open("localhost", listener.port(), nullptr);
  CHECK(Connect(poller, socket).ok());
  socket.Open("localhost", 1, nullptr);
  socket.Close();
  CHECK(socket.state() == State::kClosed);
}

TEST_CASE("peer socket: the error is that of the last address; before it each is tried") {
  EventPoller poller;
  std::vector<std::string> tried;
  const auto refuse = [&tried](const SocketAddress& to) {
    tried.push_back(to.text());
    errno = tried.size() == 1 ? EHOSTUNREACH : ECONNREFUSED;
    return -1;
  };
  PeerSocket socket(poller, refuse);
  socket.Open("127.0.0.1", 1, nullptr);
  CHECK(Connect(poller, socket).message() == "connect: No route to host");
  socket.Open("127.0.0.2", 1, nullptr);
  CHECK(Connect(poller, socket).message() == "connect: Connection refused");
  CHECK(tried == std::vector<std::string>{"127.0.0.1:1", "127.0.0.2:1"});
}

TEST_CASE("peer socket: a port at which nobody listens refuses") {
  const uint16_t port = Listener().port();
  EventPoller poller;
  PeerSocket socket(poller);
  socket.Open("127.0.0.1", port, nullptr);
  CHECK(Connect(poller, socket).message() == "connect: Connection refused");
}

}  // namespace
}  // namespace tally::server::peer_socket_test
