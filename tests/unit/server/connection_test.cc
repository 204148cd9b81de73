#include "server/net/connection.h"

#include <catch2/catch.hpp>

#include "server/loop/blocked_timeouts.h"
#include "server/loop_harness.h"

namespace tally::server::connection_test {
namespace {

OutputBufferLimit& NormalLimit(LoopHarness& loop) {
  return loop.h.config.client_output_buffer_limit[static_cast<size_t>(ClientClass::kNormal)];
}

// A client whose peer takes no more, with output left.
FakePeer& Blocked(LoopHarness& loop) {
  FakePeer& peer = loop.Fake("a");
  peer.conversation->reply_bytes = size_t{8} << 20;
  peer.Send("1");
  for (int i = 0; i < 100; ++i) loop.Turn();
  REQUIRE(peer.client().state.output.blocked());
  return peer;
}

void Turns(LoopHarness& loop) {
  for (int i = 0; i < 5; ++i) loop.Turn();
}

}  // namespace

TEST_CASE("connection: a reply is sent at the end of the turn, and QUIT closes after its own") {
  LoopHarness loop;
  FakePeer& peer = loop.Resp();
  peer.Send("PING\r\n");
  loop.queue.Serve();
  CHECK(peer.far.Received().empty());
  loop.output.Flush();
  CHECK(peer.far.Received() == "+PONG\r\n");
  Turns(loop);
  peer.Send("PING\r\nQUIT\r\nPING\r\n");
  Turns(loop);
  CHECK(peer.far.Received() == "+PONG\r\n+OK\r\n");
  CHECK(peer.far.AtEnd());
  CHECK(loop.forgotten == 1);
}

TEST_CASE("connection: a peer that does not read is not run, and gets all when it reads") {
  LoopHarness loop;
  FakePeer& peer = Blocked(loop);
  peer.Send("2");
  CHECK_FALSE(loop.queue.HasWork());
  CHECK(loop.Turn().empty());
  peer.conversation->reply_bytes = 0;
  size_t received = 0;
  for (int i = 0; i < 1000 && received < size_t{8} << 20; ++i) {
    received += peer.far.Received().size();
    peer.Writable();
    loop.Turn();
    received += peer.far.Received().size();
  }
  CHECK(received == size_t{8} << 20);
  CHECK(peer.client().state.output.clear());
  CHECK(loop.Turn() == "a<2 a ");
}

TEST_CASE("connection: a peer that ends its sending gets the replies to what it sent") {
  LoopHarness loop;
  FakePeer& peer = loop.Resp();
  peer.far.Send("PING\r\nINCR k\r\n");
  peer.far.EndSending();
  peer.Readable(true);
  Turns(loop);
  CHECK(peer.far.Received() == "+PONG\r\n:1\r\n");
  CHECK(peer.far.AtEnd());
  CHECK(loop.forgotten == 1);
}

TEST_CASE("connection: a peer that is gone while its command waits takes nothing with it") {
  LoopHarness loop;
  FakePeer& waiting = loop.Resp();
  FakePeer& other = loop.Resp();
  waiting.Send("BLPOP k 0\r\n");
  Turns(loop);
  REQUIRE(waiting.client().state.command.blocked());
  waiting.far.EndSending();
  waiting.Readable(true);
  Turns(loop);
  CHECK(waiting.connection->closed());
  other.Send("RPUSH k v\r\n");
  Turns(loop);
  CHECK(loop.h.Run("LLEN k") == ":1");
}

TEST_CASE(
    "connection: a client that waits is served by another, then runs what it sent meanwhile") {
  LoopHarness loop;
  FakePeer& waiting = loop.Resp();
  FakePeer& other = loop.Resp();
  waiting.Send("BLPOP k 0\r\n");
  Turns(loop);
  waiting.Send("PING\r\n");
  Turns(loop);
  CHECK(waiting.far.Received().empty());
  other.Send("RPUSH k v\r\n");
  Turns(loop);
  CHECK(waiting.far.Received() == "*2\r\n$1\r\nk\r\n$1\r\nv\r\n+PONG\r\n");
}

TEST_CASE("connection: output over the hard limit closes at once, output of the limit does not") {
  LoopHarness loop;
  FakePeer& peer = Blocked(loop);
  const auto waiting = static_cast<int64_t>(peer.client().output.size());
  NormalLimit(loop) = {.hard = waiting, .soft = 0, .soft_seconds = 0};
  peer.connection->LimitOutput();
  CHECK_FALSE(peer.connection->closed());
  NormalLimit(loop).hard = waiting - 1;
  peer.connection->LimitOutput();
  CHECK(peer.connection->closed());
  CHECK(loop.h.state.stats.client_output_limit_disconnections == 1);
  CHECK(loop.forgotten == 1);
  peer.connection->LimitOutput();
  CHECK(loop.h.state.stats.client_output_limit_disconnections == 1);
}

TEST_CASE(
    "connection: output over the soft limit closes after its seconds, whoever sets the clock") {
  LoopHarness loop;
  auto& clock = loop.h.state.clock;
  clock.SetSteady(5'000);
  FakePeer& peer = Blocked(loop);
  const auto waiting = static_cast<int64_t>(peer.client().output.size());
  const auto limit_at = [&](int64_t steady_ms) {
    clock.SetSteady(steady_ms);
    peer.connection->LimitOutput();
    return peer.connection->closed();
  };
  NormalLimit(loop) = {.hard = 0, .soft = waiting, .soft_seconds = 2};
  CHECK_FALSE(limit_at(100'000));
  CHECK_FALSE(limit_at(200'000));
  NormalLimit(loop).soft = waiting - 1;
  CHECK_FALSE(limit_at(300'000));
  clock.Set(loop.h.now() + 86'400'000);
  CHECK_FALSE(limit_at(302'999));
  clock.Set(loop.h.now() - 2 * INT64_C(86'400'000));
  // It was below the limit meanwhile: the seconds begin anew.
  NormalLimit(loop).soft = waiting;
  CHECK_FALSE(limit_at(302'999));
  NormalLimit(loop).soft = waiting - 1;
  CHECK_FALSE(limit_at(303'000));
  CHECK_FALSE(limit_at(305'999));
  CHECK(limit_at(306'000));
}

TEST_CASE("connection: what could not be logged is not acknowledged, and others are") {
  LoopHarness loop;
  FakePeer& writes = loop.Resp();
  FakePeer& reads = loop.Resp();
  writes.Send("INCR k\r\n");
  reads.Send("PING\r\n");
  // On a slow machine the second waits for another turn.
  for (int i = 0; i < 3; ++i) loop.queue.Serve();
  loop.output.DropUnlogged();
  loop.output.Flush();
  CHECK(writes.far.Received().empty());
  CHECK(writes.far.AtEnd());
  CHECK(reads.far.Received() == "+PONG\r\n");
}

TEST_CASE(
    "blocked timeouts: a timer that comes early, late, or for many at once ends what is due") {
  LoopHarness loop;
  auto& clock = loop.h.state.clock;
  EventPoller poller;
  BlockedTimeouts timeouts(poller, loop.h.state.services, loop.h.dispatcher);
  clock.SetSteady(10'000);
  FakePeer& peer = loop.Resp();
  peer.Send("BLPOP k 1\r\n");
  Turns(loop);
  timeouts.Schedule();
  const auto received_at = [&](int64_t steady_ms) {
    clock.SetSteady(steady_ms);
    timeouts.Expire();
    Turns(loop);
    return peer.far.Received();
  };
  clock.Set(loop.h.now() + 86'400'000);
  CHECK(received_at(10'999).empty());
  CHECK(received_at(3'000'000) == "*-1\r\n");
  CHECK(received_at(4'000'000).empty());

  constexpr int kMany = 1500;
  std::vector<Client*> clients;
  for (int i = 0; i < kMany; ++i) {
    clients.push_back(loop.h.Connect());
    loop.h.Run(*clients.back(), "BLPOP k 1");
  }
  const auto blocked = [&] {
    return std::count_if(clients.begin(), clients.end(),
                         [](const Client* client) { return client->state.command.blocked(); });
  };
  REQUIRE(blocked() == kMany);
  clock.SetSteady(5'000'000);
  timeouts.Expire();
  CHECK(blocked() == kMany - 1000);
  timeouts.Expire();
  CHECK(blocked() == 0);
}

}  // namespace tally::server::connection_test
