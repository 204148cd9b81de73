#include "server/loop/periodic_work.h"

#include <catch2/catch.hpp>
#include <string>

#include "fake_file_system.h"
#include "server/figures/figure_history.h"
#include "server/log/trouble_log.h"
#include "server/loop/replica_waits.h"
#include "server/memory/memory_usage.h"
#include "server/replication/replica.h"
#include "server/table_harness.h"

namespace tally::server::periodic_work_test {
namespace {

Config WithLog() {
  Config config;
  config.appendonly = true;
  config.appendfsync = FsyncPolicy::kAlways;
  return config;
}

struct Periodic {
  explicit Periodic(Config config = {}) : table(std::move(config)) {
    server.clock.SetSteady(1'000'000);
    REQUIRE(persistence.Open().ok());
    REQUIRE(persistence.LoadSlice(INT64_MAX).ok());
    work.Start();
  }

  // Waits for the next tick, and ends its turn.
  void Tick() {
    timers.Poll(false);
    turn_clock.End();
  }

  test::FakeFileSystem files;
  TableHarness table;
  Services& server = table.server;
  AofPersistence persistence{server, files};
  EventPoller timers;
  TurnClock turn_clock{server.clock, server.loop};
  DataUpkeep data{server};
  Listeners listeners{table.poller, server, table.connections};
  ReplicaWaits waits{server, table.loop.h.dispatcher};
  Replica replica{
      {server, persistence, files, timers, [] { return std::string(StreamId::kDigits, 'e'); }}};
  PeriodicWork work{timers,
                    server,
                    turn_clock,
                    {persistence, data, table.limits, replica, table.loop.h.replicas, waits,
                     listeners, table.site.events}};
};

}  // namespace

TEST_CASE("periodic work: a tick is a turn, in which rates and memory are measured") {
  Periodic p;
  size_t used = 1000;
  p.server.memory.set_source([&] { return used; });
  p.Tick();
  CHECK(p.server.loop.turns() == 1);
  CHECK(p.server.memory.used() == 1000);
  CHECK_FALSE(p.server.history.IsDue(Clock::MonotonicMicros()));
  CHECK(p.server.stats.operations_rate.per_second() == 0);
  p.server.stats.commands_processed += 1'000'000;
  used = 2000;
  p.Tick();
  CHECK(p.server.stats.operations_rate.per_second() > 0);
  CHECK(p.server.memory.used() == 2000);
}

TEST_CASE("periodic work: while a script is busy nothing is done but what who looks sees") {
  Periodic p;
  const FarEnd silent_end;
  const FarEnd looking_end;
  Connection& silent = p.table.Open(silent_end);
  Client& looking = p.table.Open(looking_end).client();
  p.table.loop.h.config.timeout = 1;
  p.table.loop.h.Advance(2000);
  p.table.site.events.Add(looking);
  looking.takes_events = true;
  p.server.script_busy = true;
  p.Tick();
  CHECK_FALSE(silent.closed());
  CHECK(looking.output.Joined().find("event: figures\ndata: {") != std::string::npos);
  p.server.script_busy = false;
  p.Tick();
  CHECK(silent.closed());
  p.table.site.events.Remove(looking);
}

TEST_CASE("periodic work: events are published once a second") {
  Periodic p;
  const FarEnd end;
  Client& client = p.table.Open(end).client();
  p.table.site.events.Add(client);
  const int64_t begin_us = Clock::MonotonicMicros();
  p.Tick();
  const size_t first = client.output.size();
  CHECK(first > 0);
  p.Tick();
  // Unless the machine stood still for a second.
  if (Clock::MonotonicMicros() - begin_us < 1'000'000) CHECK(client.output.size() == first);
  p.table.site.events.Remove(client);
}

TEST_CASE("periodic work: a log that cannot be written is reported, then repaired") {
  Periodic p(WithLog());
  p.files.LeaveRoom(0);
  p.server.effects.Append(0, {"SET", "a", "1"});
  REQUIRE_FALSE(p.persistence.FlushTurn().ok());
  p.Tick();
  CHECK(p.server.troubles.writes.active());
  CHECK_FALSE(p.persistence.write_error().ok());
  p.files.LeaveRoom(SIZE_MAX);
  p.server.clock.SetSteady(1'001'000);
  p.Tick();
  CHECK(p.persistence.write_error().ok());
  CHECK(p.server.troubles.writes.active());
  p.server.clock.SetSteady(1'006'000);
  p.Tick();
  CHECK_FALSE(p.server.troubles.writes.active());
}

TEST_CASE(
    "periodic work: a snapshot that fails is a trouble only where writes are refused for it") {
  for (const bool stops : {false, true}) {
    Config config;
    config.appendonly = false;
    config.save = std::vector<SaveRule>{{3600, 1}};
    config.stop_writes_on_bgsave_error = stops;
    Periodic p(config);
    REQUIRE(p.persistence.SaveNow().ok());
    p.Tick();
    CHECK_FALSE(p.server.troubles.writes.active());
    p.files.LeaveRoom(0);
    REQUIRE_FALSE(p.persistence.SaveNow().ok());
    p.Tick();
    CHECK(p.server.troubles.writes.active() == stops);
  }
}

}  // namespace tally::server::periodic_work_test
