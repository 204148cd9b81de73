// --ping against servers that accept and then say nothing, a part of a line, or an answer.
#include "server/process/ping.h"

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/write.hpp>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

namespace tally::server::ping_test {
namespace {

using asio::ip::tcp;
using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kWait{200};

// Listens on a port that the system chooses. The kernel accepts what connects.
class Listener {
 public:
  Config Described() const {
    Config config;
    config.bind = {"127.0.0.1"};
    config.port = acceptor_.local_endpoint().port();
    return config;
  }

  // Answers the next connection, and keeps it open until the listener goes.
  void Answer(std::string_view bytes) {
    acceptor_.accept(socket_);
    asio::write(socket_, asio::buffer(bytes.data(), bytes.size()));
  }
  void AnswerAndClose(std::string_view bytes) {
    Answer(bytes);
    socket_.close();
  }

 private:
  asio::io_context io_;
  tcp::acceptor acceptor_{io_, tcp::endpoint(asio::ip::address_v4::loopback(), 0)};
  tcp::socket socket_{io_};
};

absl::StatusOr<std::string> PingOf(std::string_view answer) {
  Listener listener;
  std::thread thread([&] { listener.Answer(answer); });
  auto reply = Ping(listener.Described(), std::chrono::seconds(5));
  thread.join();
  return reply;
}

TEST_CASE("a server that accepts and says nothing fails the ping in time", "[ping]") {
  Listener listener;
  const auto start = steady_clock::now();
  const auto reply = Ping(listener.Described(), kWait);
  CHECK(reply.status().code() == absl::StatusCode::kUnavailable);
  CHECK(steady_clock::now() - start >= kWait);
}

TEST_CASE("half a line is no answer to a ping", "[ping]") {
  Listener listener;
  std::thread thread([&] { listener.Answer("+PO"); });
  CHECK(Ping(listener.Described(), kWait).status().code() == absl::StatusCode::kUnavailable);
  thread.join();
}

TEST_CASE("a ping returns the line of the answer", "[ping]") {
  CHECK(*PingOf("+PONG\r\n") == "+PONG");
  CHECK(*PingOf("-NOAUTH Authentication required.\r\n") == "-NOAUTH Authentication required.");
  CHECK(PingOf("-LOADING busy\r\n").status().message() == "-LOADING busy");
}

TEST_CASE("what ends before a line, and a line without an end, are no answer to a ping", "[ping]") {
  {
    Listener listener;
    std::thread thread([&] { listener.AnswerAndClose("+PO"); });
    CHECK(Ping(listener.Described(), std::chrono::seconds(5)).status().message() ==
          "the connection ended before an answer");
    thread.join();
  }
  CHECK(PingOf(std::string(10'000, 'x')).status().code() == absl::StatusCode::kUnavailable);
}

TEST_CASE("a ping asks at the unix socket if there is one", "[ping]") {
  Config config;
  config.unixsocket = "/nowhere/tallyd.sock";
  CHECK(Ping(config, kWait).status().message() == "connect: No such file or directory");
}

TEST_CASE("a ping that nobody listens for fails", "[ping]") {
  Config config;
  {
    config = Listener().Described();
  }
  CHECK(Ping(config, kWait).status().code() == absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace tally::server::ping_test
