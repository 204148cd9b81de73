#include "server/net/connection_table.h"

#include <catch2/catch.hpp>

#include "server/table_harness.h"

namespace tally::server::connection_table_test {

TEST_CASE("connection table: who closes while in the queue is dropped when it has left that") {
  TableHarness t;
  const FarEnd end;
  Connection& client = t.Open(end);
  end.Send("SET k v\r\n");
  client.OnEvent({.readable = true});
  client.Close();
  CHECK_FALSE(t.connections.EraseClosed());
  CHECK(t.connections.size() == 1);
  t.loop.Turn();
  CHECK(t.connections.EraseClosed());
  CHECK(t.connections.size() == 0);
  CHECK(t.loop.h.Run("EXISTS k") == ":0");
  CHECK_FALSE(t.loop.queue.HasWork());
}

TEST_CASE("connection table: who closes while its command is postponed is not kept by the pause") {
  TableHarness t;
  const FarEnd end;
  Connection& client = t.Open(end);
  t.loop.h.Run("CLIENT PAUSE 100000 WRITE");
  t.Send(end, client, "SET k v\r\n");
  REQUIRE(client.client().state.command.postponed());
  CHECK_FALSE(t.loop.queue.HasWork());
  client.Close();
  CHECK_FALSE(t.connections.EraseClosed());
  CHECK(t.loop.queue.HasWork());
  t.loop.Turn();
  CHECK(t.connections.EraseClosed());
  CHECK(t.connections.size() == 0);
}

}  // namespace tally::server::connection_table_test
