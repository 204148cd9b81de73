// The parts of the event loop without the kernel's events: connections whose other ends the test
// holds, and which hear of them only when the test says so. Time is the test's too.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/command_harness.h"
#include "server/dispatch/session.h"
#include "server/loop/client_output.h"
#include "server/loop/turn_queue.h"
#include "server/net/connection.h"

namespace tally::server {

// The other end of a connection, which neither reads nor sends of itself.
class FarEnd {
 public:
  FarEnd() {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
    socket_ = ends[0];
    near_ = ends[1];
  }
  ~FarEnd() { Close(); }
  FarEnd(const FarEnd&) = delete;
  FarEnd& operator=(const FarEnd&) = delete;

  // The server's end, of which a connection becomes the owner.
  int near() const { return near_; }
  void Send(std::string_view bytes) const {
    REQUIRE(::send(socket_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  }
  // What has come.
  std::string Received() const {
    std::string all;
    std::array<char, 65536> some{};
    ssize_t bytes = 0;
    while ((bytes = ::recv(socket_, some.data(), some.size(), 0)) > 0) {
      all.append(some.data(), static_cast<size_t>(bytes));
    }
    return all;
  }
  // Whether the server has closed its end, and all that it sent was received.
  bool AtEnd() const {
    char byte = 0;
    return ::recv(socket_, &byte, 1, 0) == 0;
  }
  void EndSending() const { REQUIRE(::shutdown(socket_, SHUT_WR) == 0); }
  void Close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

 private:
  int socket_ = -1;
  int near_ = -1;
};

// The time of the loop's parts, which stands until a test moves it.
struct FakeMicros {
  static int64_t Now() { return now; }
  static inline int64_t now = 1'000'000;
};

// A conversation that does nothing but take time and reply, and keeps a diary of its turns.
class FakeConversation final : public Conversation {
 public:
  FakeConversation(ClientTable& clients, std::string name, std::string& diary)
      : clients_(clients), name_(std::move(name)), diary_(diary) {
    clients_.Add(client_);
  }
  ~FakeConversation() override { clients_.Remove(client_); }

  Client& client() override { return client_; }
  void Take(std::string_view bytes) override {
    diary_ += name_ + "<" + std::string(bytes) + " ";
    client_.state.requests.Take();
  }
  std::span<char> LongArgumentRoom(size_t) override { return {}; }
  void TakeInRoom(size_t) override {}
  std::optional<std::string_view> first_key() const override { return {}; }
  void Run(const TurnShare& run_share) override {
    diary_ += name_ + " ";
    share = run_share;
    client_.state.requests.BeginRun();
    FakeMicros::now += micros;
    if (reply_bytes > 0) client_.output.Append(std::string(reply_bytes, 'x'));
    if (const auto once = std::exchange(during, nullptr)) once();
    if (backlog > 0) --backlog;
    client_.state.requests.EndRun(backlog > 0);
    if (client_.needs_flush()) clients_.MarkPending(client_);
  }
  void Hold() override {
    if (!client_.state.requests.taken()) return;
    diary_ += name_ + "=held ";
    client_.state.requests.Hold();
  }
  bool heavy() const override { return is_heavy; }
  bool CheckDeadlines() override {
    ++checks;
    return is_late;
  }

  int64_t micros = 0;      // that a Run takes
  size_t reply_bytes = 0;  // that a Run appends
  int backlog = 0;         // the Runs that the requests take, if they are more than one
  bool is_heavy = false;
  bool is_late = false;
  int checks = 0;
  TurnShare share;               // of the last Run
  std::function<void()> during;  // is called in the next Run

 private:
  ClientTable& clients_;
  Client client_;
  const std::string name_;
  std::string& diary_;
};

// A connection of one client, and its other end.
struct FakePeer {
  FarEnd far;
  FakeConversation* conversation = nullptr;  // null if the conversation is a Session
  std::unique_ptr<Connection> connection;

  Client& client() const { return connection->client(); }
  // What the kernel would report.
  void Readable(bool hung_up = false) const {
    connection->OnEvent({.readable = true, .writable = false, .hung_up = hung_up});
  }
  void Writable() const { connection->OnEvent({.readable = false, .writable = true}); }
  void Send(std::string_view bytes) const {
    far.Send(bytes);
    Readable();
  }
};

class LoopHarness final : private ConnectionOwner {
 public:
  explicit LoopHarness(Config config = {}) : h(std::move(config)) { FakeMicros::now = 1'000'000; }
  ~LoopHarness() {
    for (const auto& peer : peers_) peer->connection->Close();
  }

  // A client with a conversation of the test's.
  FakePeer& Fake(const std::string& name) {
    auto conversation = std::make_unique<FakeConversation>(h.state.clients, name, diary);
    FakeConversation* const fake = conversation.get();
    FakePeer& peer = Add(std::move(conversation));
    peer.conversation = fake;
    return peer;
  }
  // A client that speaks RESP.
  FakePeer& Resp() { return Add(std::make_unique<Session>(h.state.services, h.dispatcher)); }

  // A turn of the loop, without what is due at its end but the output.
  std::string Turn() {
    diary.clear();
    queue.Serve();
    output.Flush();
    return diary;
  }

  CommandHarness h;
  TurnQueue queue{h.state.services, h.dispatcher, FakeMicros::Now};
  ClientOutput output{h.state.clients, h.state.stats, FakeMicros::Now};
  std::string diary;  // the turns of the fakes
  int forgotten = 0;  // connections that have closed

 private:
  void Forget(Client&) override { ++forgotten; }
  FakePeer& Add(std::unique_ptr<Conversation> conversation) {
    peers_.push_back(std::make_unique<FakePeer>());
    FakePeer& peer = *peers_.back();
    peer.connection =
        std::make_unique<Connection>(peer.far.near(), nullptr, ConnectionHost{*this, queue},
                                     h.state.services, std::move(conversation));
    return peer;
  }

  std::vector<std::unique_ptr<FakePeer>> peers_;
};

}  // namespace tally::server
