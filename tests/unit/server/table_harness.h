// The loop's parts with the table of connections, whose events nobody asks for.
#pragma once

#include <catch2/catch.hpp>
#include <string_view>
#include <utility>

#include "server/loop/client_limits.h"
#include "server/loop_harness.h"
#include "server/net/connection_table.h"

namespace tally::server {

struct TableHarness {
  explicit TableHarness(Config config = {}) : loop(std::move(config)) {}

  // The client at this end.
  Connection& Open(const FarEnd& far, Protocol protocol = Protocol::kResp) {
    connections.Open(far.near(), nullptr, protocol, "peer", "local");
    Connection* opened = nullptr;
    connections.ForEach([&](Connection& connection) {
      if (connection.client().descriptor == far.near()) opened = &connection;
    });
    REQUIRE(opened != nullptr);
    return *opened;
  }
  void Send(const FarEnd& far, Connection& connection, std::string_view bytes) {
    far.Send(bytes);
    connection.OnEvent({.readable = true});
    loop.Turn();
  }

  LoopHarness loop;
  Services& server = loop.h.state.services;
  EventPoller poller;
  HttpSite site{{}, loop.h.state.clients};
  ConnectionTable connections{server, loop.h.dispatcher, site, loop.queue, poller};
  ClientLimits limits{server, connections};
};

}  // namespace tally::server
