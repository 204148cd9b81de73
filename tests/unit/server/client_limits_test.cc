#include "server/loop/client_limits.h"

#include <catch2/catch.hpp>

#include "server/table_harness.h"

namespace tally::server::client_limits_test {
TEST_CASE("client limits: who is silent for longer than `timeout` is closed, unless it waits") {
  TableHarness t;
  const FarEnd silent_end;
  const FarEnd waiting_end;
  Connection& silent = t.Open(silent_end);
  Connection& waiting = t.Open(waiting_end);
  t.Send(silent_end, silent, "PING\r\n");
  t.Send(waiting_end, waiting, "BLPOP k 0\r\n");
  t.loop.h.Advance(1'000'000);
  t.limits.Apply();
  CHECK_FALSE(silent.closed());
  t.loop.h.config.timeout = 1000;
  t.limits.Apply();
  CHECK_FALSE(silent.closed());
  t.loop.h.Advance(1);
  t.limits.Apply();
  CHECK(silent.closed());
  CHECK_FALSE(waiting.closed());
  CHECK(t.connections.EraseClosed());
  CHECK(t.connections.size() == 1);
}

TEST_CASE("client limits: a clock that is set makes nobody silent, nor keeps who is silent") {
  TableHarness t;
  const FarEnd end;
  Connection& client = t.Open(end);
  t.Send(end, client, "PING\r\n");
  t.loop.h.config.timeout = 100;
  t.loop.h.state.clock.Set(t.loop.h.now() + 3'600'000);
  t.limits.Apply();
  CHECK_FALSE(client.closed());
  t.loop.h.state.clock.Set(t.loop.h.now() - 7'200'000);
  t.loop.h.Advance(100'000);
  t.limits.Apply();
  CHECK_FALSE(client.closed());
  t.loop.h.Advance(1);
  t.limits.Apply();
  CHECK(client.closed());
}

TEST_CASE("client limits: over maxmemory-clients the largest go, but who may not be evicted") {
  TableHarness t;
  const FarEnd ends[4];
  std::vector<Connection*> open;
  for (const FarEnd& end : ends) open.push_back(&t.Open(end));
  for (size_t i = 0; i < 4; ++i) {
    open[i]->client().output.Append(std::string((i + 1) * 1'000'000, 'x'));
  }
  open[3]->client().no_evict = true;
  const auto closed = [&] {
    std::string all;
    for (const Connection* one : open) all += one->closed() ? 'x' : '.';
    return all;
  };
  t.limits.Apply();
  CHECK(closed() == "....");
  t.loop.h.config.maxmemory_clients = 20'000'000;
  t.limits.Apply();
  CHECK(closed() == "....");
  t.loop.h.config.maxmemory_clients = 8'500'000;
  t.limits.Apply();
  CHECK(closed() == "..x.");
  t.limits.Apply();
  CHECK(closed() == "..x.");
  // In percent of maxmemory.
  t.loop.h.config.maxmemory = 100'000'000;
  t.loop.h.config.maxmemory_clients = -6;
  t.limits.Apply();
  CHECK(closed() == ".xx.");
  CHECK(t.loop.h.state.stats.evicted_clients == 2);
}

}  // namespace tally::server::client_limits_test
