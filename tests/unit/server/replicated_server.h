// A server on files in memory with all that it has of replication, on a network in memory: what the
// process does in a turn, but for its clients, listeners and timers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "durable_server.h"
#include "fake_network.h"
#include "loop_harness.h"
#include "server/dispatch/session.h"
#include "server/loop/client_output.h"
#include "server/loop/turn_queue.h"
#include "server/net/connection.h"
#include "server/net/event_poller.h"
#include "server/replication/replica.h"
#include "server/replication/replica_links.h"

namespace tally::server {

// One process's life.
class ReplicatedServer final : private ConnectionOwner {
 public:
  // `config.port` is its place in the network.
  ReplicatedServer(test::FakeFileSystem& files, test::FakeNetwork& network, Config config,
                   const std::function<std::string()>& new_id)
      : network_(network),
        port_(config.port),
        durable_(files, std::move(config)),
        links_(services(), new_id),
        replica_({.server = services(),
                  .persistence = durable_.persistence(),
                  .files = files,
                  .poller = poller_,
                  .new_id = new_id,
                  .dial = [this](const auto& to) { return network_.Dial(port_, to.port()); },
                  .slice_us = INT64_MAX / 2}) {}
  ~ReplicatedServer() {
    network_.Listen(port_, nullptr);
    for (const auto& connection : connections_) connection->Close();
  }

  // Loads what is there; then it can be reached.
  absl::Status Load() {
    replica_.Start();
    return durable_.Start();
  }
  void Serve() {
    links_.BeginHistory();
    network_.Listen(port_, [this](int socket) { Accept(socket); });
  }

  // What is done by the clock.
  void Tick() {
    durable_.persistence().Cron();
    replica_.Tick();
    links_.Tick();
  }
  // The begin of a turn: what has come is applied and answered.
  void BeginTurn() {
    poller_.Poll(true);
    replica_.Serve();
    queue_.Serve();
    if (loading()) REQUIRE(durable_.persistence().LoadSlice(INT64_MAX).ok());
  }
  // Its end. Returns whether the effects are in the log.
  bool EndTurn() {
    const absl::Status logged =
        durable_.persistence().FlushTurn(AofPersistence::RewritePace::kStep);
    if (logged.ok()) replica_.EndTurn();
    links_.TakeAcknowledged();
    links_.EndTurn();
    if (!logged.ok()) output_.DropUnlogged();
    output_.Flush();
    std::erase_if(connections_, [](const auto& connection) {
      return connection->closed() && connection->client().state.place.resting();
    });
    return logged.ok();
  }

  bool loading() { return services().loading; }
  bool is_replica() const { return replica_.is_replica(); }
  PrimaryState primary() const { return replica_.state(); }
  ReplicasState replicas() const { return links_.state(); }
  // Where its data is in which history.
  const std::string& id() { return services().stream_id.id(); }
  uint64_t offset() { return services().effects.offset(); }

  CommandHarness& harness() { return durable_.harness(); }
  AofPersistence& persistence() { return durable_.persistence(); }

 private:
  Services& services() { return durable_.harness().state.services; }

  void Accept(int socket) {
    auto connection = std::make_unique<Connection>(
        socket, nullptr, ConnectionHost{*this, queue_}, services(),
        std::make_unique<Session>(services(), durable_.harness().dispatcher));
    connection->client().address = "127.0.0.1:1";
    REQUIRE(poller_.WatchEdges(socket, *connection));
    connections_.push_back(std::move(connection));
  }
  void Forget(Client&) override {}

  test::FakeNetwork& network_;
  const int64_t port_;
  DurableServer durable_;
  EventPoller poller_;
  ReplicaLinks links_;
  Replica replica_;
  TurnQueue queue_{services(), durable_.harness().dispatcher, FakeMicros::Now};
  ClientOutput output_{services().clients, services().stats, FakeMicros::Now};
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace tally::server
