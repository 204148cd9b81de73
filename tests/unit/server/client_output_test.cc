#include "server/loop/client_output.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <list>
#include <string>
#include <vector>

#include "server/loop/turn_budget.h"

namespace tally::server::client_output_test {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// A client whose peer takes `room` bytes more.
struct Peer final : Transport {
  Peer(ClientTable& clients_in, Stats& stats_in) : clients(clients_in), stats(stats_in) {
    client.transport = this;
    clients.Add(client);
  }
  ~Peer() { clients.Remove(client); }

  void Write(size_t bytes) {
    client.output.Append(std::string(bytes, 'x'));
    clients.MarkPending(client);
  }
  bool FlushOutput(size_t most) override {
    const size_t sent = std::min({most, client.output.size(), room});
    client.output.Consume(sent);
    stats.net_output_bytes += sent;
    room -= sent;
    shares.push_back(sent);
    spent_us += flush_us;
    return !client.output.empty() && room > 0;
  }
  void Close() override {}
  size_t sent() const {
    size_t sum = 0;
    for (const size_t share : shares) sum += share;
    return sum;
  }

  ClientTable& clients;
  Stats& stats;
  Client client;
  size_t room = SIZE_MAX;
  std::vector<size_t> shares;  // what each call sent
  inline static int64_t flush_us = 0;
  inline static int64_t spent_us = 0;
};

struct Harness {
  Harness() { Peer::flush_us = 0; }
  Peer& Open() { return peers.emplace_back(clients, stats); }

  Config config;
  Stats stats{0};
  ClientTable clients{config};
  ClientOutput output{clients, stats, [] { return Peer::spent_us; }};
  std::list<Peer> peers;
};

}  // namespace

TEST_CASE("client output: what is short is sent at the end of its turn, and nobody else is asked") {
  Harness t;
  Peer& one = t.Open();
  Peer& other = t.Open();
  one.Write(16 * 1024);
  t.output.Flush();
  CHECK(one.shares == std::vector<size_t>{16 * 1024});
  CHECK(other.shares.empty());
  CHECK_FALSE(t.clients.has_pending());
}

TEST_CASE("client output: a peer that takes no more is not asked again, until it is marked") {
  Harness t;
  Peer& slow = t.Open();
  slow.room = 10;
  slow.Write(11);
  t.output.Flush();
  CHECK(slow.sent() == 10);
  CHECK_FALSE(t.clients.has_pending());
  slow.room = 10;
  t.output.Flush();
  CHECK(slow.sent() == 10);
  t.clients.MarkPending(slow.client);
  t.output.Flush();
  CHECK(slow.sent() == 11);
}

TEST_CASE("client output: what is long is sent in shares, a mebibyte a turn in all") {
  Harness t;
  std::vector<Peer*> peers;
  for (int i = 0; i < 4; ++i) peers.push_back(&t.Open());
  for (Peer* peer : peers) peer->Write(kMiB);
  Peer& brief = t.Open();
  brief.Write(1);
  for (size_t turn = 1; turn <= 4; ++turn) {
    t.output.Flush();
    CHECK(brief.sent() == 1);
    for (const Peer* peer : peers) CHECK(peer->sent() == turn * kMiB / 4);
  }
  CHECK_FALSE(t.clients.has_pending());
}

TEST_CASE("client output: of many, those that a turn did not reach go first in the next") {
  Harness t;
  std::vector<Peer*> peers;
  for (int i = 0; i < 40; ++i) peers.push_back(&t.Open());
  for (Peer* peer : peers) peer->Write(kMiB);
  t.output.Flush();
  for (size_t i = 0; i < 40; ++i) CHECK(peers[i]->sent() == (i < 16 ? kMiB / 16 : 0));
  t.output.Flush();
  for (size_t i = 0; i < 40; ++i) CHECK(peers[i]->sent() == (i < 32 ? kMiB / 16 : 0));
  int turns = 2;
  while (t.clients.has_pending()) {
    t.output.Flush();
    REQUIRE(++turns <= 40);
  }
  CHECK(turns == 40);
  for (const Peer* peer : peers) CHECK(peer->sent() == kMiB);
}

TEST_CASE("client output: a turn's sending ends with its time") {
  Harness t;
  Peer& first = t.Open();
  Peer& second = t.Open();
  first.Write(kMiB);
  second.Write(kMiB);
  Peer::flush_us = TurnBudget::kMicros;
  t.output.Flush();
  CHECK(first.shares.size() == 1);
  CHECK(second.shares.empty());
  t.output.Flush();
  CHECK(first.shares.size() == 1);
  CHECK(second.shares.size() == 1);
}

TEST_CASE("client output: while a command runs nothing of its client is sent") {
  Harness t;
  Peer& one = t.Open();
  one.client.state.command.Begin();
  one.Write(5);
  t.output.Flush();
  CHECK(one.shares.empty());
}

TEST_CASE("client output: who wrote what could not be logged loses its reply, and others do not") {
  Harness t;
  Peer& writer = t.Open();
  Peer& reader = t.Open();
  writer.Write(5);
  writer.client.wrote = true;
  reader.Write(5);
  t.output.DropUnlogged();
  t.output.Flush();
  CHECK(writer.sent() == 0);
  CHECK(writer.client.finished());
  CHECK(reader.sent() == 5);
  CHECK_FALSE(reader.client.finished());
}

}  // namespace tally::server::client_output_test
