#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/command_harness.h"

namespace tally::server::maxmemory_test {
namespace {

constexpr std::string_view kOom = "-OOM command not allowed when used memory > 'maxmemory'.";
constexpr size_t kRoom = size_t{2} << 20;

// What the keys of the first database take, without what waits to be freed.
size_t KeyBytes(const Engine& engine) {
  const Keyspace& keyspace = engine.database(0);
  size_t bytes = keyspace.table_bytes();
  // A test has few heap values or none; to look for them takes long.
  if (keyspace.size() > 200) return bytes;
  uint64_t position = 0;
  while (const Keyspace::Segment* segment = keyspace.NextSegment(position)) {
    keyspace.ForEach(*segment, [&](const Keyspace::Entry& entry) {
      if (entry.is_heap()) bytes += OperationsOf(entry.type()).memory_bytes(entry.pointer());
    });
  }
  return bytes;
}

// A limit above what is in use now; from here on effects are not collected.
void LimitMemory(CommandHarness& h, std::string_view policy, size_t room = kRoom) {
  h.state.memory.set_source([&engine = h.engine] { return KeyBytes(engine); });
  const size_t limit = h.state.memory.Sample() + room;
  REQUIRE(h.Run(StrCat("CONFIG SET maxmemory ", limit, " maxmemory-policy ", policy)) == "+OK");
  Evictor::ApplyConfig(h.state.services);
  h.StopEffects();
}

void ExhaustMemory(CommandHarness& h) {
  REQUIRE(h.Run(*h.Connect(), "CONFIG SET maxmemory 1 maxmemory-policy noeviction") == "+OK");
}

std::string FirstLine(const std::string& reply) { return reply.substr(0, reply.find(" script: ")); }

// Sets `count` keys of 100 bytes, a second after one another.
void Fill(CommandHarness& h, int count, const std::string& options = "") {
  for (int i = 0; i < count; ++i) {
    REQUIRE(h.Run(StrCat("SET k", i, " ", std::string(100, 'v'), options)) == "+OK");
    h.Advance(1000);
  }
}

}  // namespace

TEST_CASE("maxmemory: noeviction refuses what needs memory and nothing else") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  ExhaustMemory(h);
  CHECK(h.Run("SET b 1") == kOom);
  CHECK(h.Run("LPUSH l 1") == kOom);
  CHECK(h.Run("GET a") == "\"1\"");
  CHECK(h.Run("EXPIRE a 100") == ":1");
  CHECK(h.Run("DEL a") == ":1");
  CHECK(h.Run("CONFIG SET maxmemory 0") == "+OK");
  CHECK(h.Run("SET b 1") == "+OK");
}

TEST_CASE("maxmemory: in a transaction") {
  CommandHarness h;
  CHECK(h.Run("MULTI") == "+OK");
  CHECK(h.Run("SET a 1") == "+QUEUED");
  ExhaustMemory(h);
  Client* other = h.Connect();
  CHECK(h.Run("EXEC") == StrCat("-EXECABORT Transaction discarded because of: ", kOom.substr(1)));
  CHECK(h.Run("EXEC") == "-ERR EXEC without MULTI");
  CHECK(h.Run("GET a") == "nil");
  // To queue takes memory, whatever it is.
  CHECK(h.Run("MULTI") == "+OK");
  CHECK(h.Run("GET a") == kOom);
  CHECK(h.Run("EXEC") == "-EXECABORT Transaction discarded because of previous errors.");
  CHECK(h.Run(*other, "MULTI") == "+OK");
  CHECK(h.Run(*other, "DISCARD") == "+OK");
  CHECK(h.Run(*other, "MULTI") == "+OK");
  CHECK(h.Run(*other, "EXEC") == "[]");
}

TEST_CASE("maxmemory: in a script") {
  CommandHarness h;
  ExhaustMemory(h);
  const auto eval = [&](const std::string& script) {
    return FirstLine(h.Run({"EVAL", script, "0"}));
  };
  CHECK(eval("return redis.call('set', 'a', 1)") == kOom);
  CHECK(eval("return redis.pcall('set', 'a', 1)") == kOom);
  CHECK(eval("return redis.call('get', 'a')") == "nil");
  // A script that has written is not cut in the middle.
  CHECK(eval("redis.call('del', 'a') return redis.call('set', 'a', 1)") == "+OK");
  CHECK(eval("#!lua flags=allow-oom\nreturn redis.call('set', 'a', 2)") == "+OK");
  CHECK(eval("#!lua flags=no-writes\nreturn redis.call('get', 'a')") == "\"2\"");
  CHECK(eval("#!lua\nreturn 1") == kOom);
}

TEST_CASE("maxmemory: the longest unused keys go, and each is logged, counted and told") {
  Config config;
  config.notify_keyspace_events = kEventKeyevent | kEventEvicted;
  CommandHarness h(config);
  Client* listener = h.Connect();
  h.Run(*listener, "PSUBSCRIBE __keyevent@0__:*");
  Fill(h, 5000);
  LimitMemory(h, "allkeys-lru");
  constexpr int kMore = 30'000;
  EffectText effects;
  h.state.effects.Attach(effects);
  size_t deleted = 0;
  for (int i = 0; i < kMore; ++i) {
    // One key is used all the time.
    REQUIRE(h.Run("GET k0") != "nil");
    REQUIRE(h.Run(StrCat("SET n", i, " ", std::string(100, 'v'))) == "+OK");
    h.Advance(1000);
    REQUIRE(h.state.memory.Current() < static_cast<size_t>(h.config.maxmemory) + 64 * 1024);
    h.state.effects.Deliver();
    for (size_t at = 0; (at = effects.text.find("$3\r\nDEL\r\n", at)) != std::string::npos; ++at) {
      ++deleted;
    }
    effects.text.clear();
    listener->output.Truncate(1000);
  }
  h.state.effects.Detach(effects);
  CHECK(deleted > 5000);
  CHECK(h.state.stats.evicted_keys == deleted);
  CHECK(h.engine.database(0).size() == 5000 + kMore - deleted);
  CHECK(listener->output.Joined().find("__keyevent@0__:evicted") != std::string::npos);
  CHECK(h.Run("INFO stats").find(StrCat("evicted_keys:", deleted)) != std::string::npos);
  CHECK(h.Run("EXISTS k1") == ":0");
  CHECK(h.Run(StrCat("EXISTS n", kMore - 1)) == ":1");
}

TEST_CASE("maxmemory: every policy holds the limit") {
  for (const char* policy : {"allkeys-lru", "allkeys-lfu", "allkeys-random", "volatile-lru",
                             "volatile-lfu", "volatile-random", "volatile-ttl"}) {
    INFO(policy);
    CommandHarness h;
    CHECK(h.Run("SET kept 1") == "+OK");
    LimitMemory(h, policy, kRoom / 2);
    Fill(h, 20'000, " EX 1000000");
    CHECK(h.state.stats.evicted_keys > 5000);
    if (std::string(policy).starts_with("volatile")) CHECK(h.Run("EXISTS kept") == ":1");
  }
}

TEST_CASE("maxmemory: with no deadline anywhere a volatile policy refuses") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("CONFIG SET maxmemory 1 maxmemory-policy volatile-lru") == "+OK");
  CHECK(h.Run("SET b 1") == kOom);
  CHECK(h.Run("EXPIRE a 100") == ":1");
  // This evicts `a`, and is refused unless that took as long as one call may evict.
  h.Run("SET b 1");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("SET c 1") == kOom);
}

TEST_CASE("maxmemory: large values are freed before more is evicted") {
  CommandHarness h;
  for (int key = 0; key < 20; ++key) {
    for (int i = 0; i < 3000; ++i) {
      REQUIRE(h.Run(StrCat("RPUSH l", key, " ", std::string(100, 'v'), i)) == StrCat(":", i + 1));
    }
    h.Advance(1000);
  }
  LimitMemory(h, "allkeys-lru", 0);
  for (int i = 0; i < 100; ++i) REQUIRE(h.Run(StrCat("SET n", i, " 1")) == "+OK");
  CHECK(h.Run("EXISTS l0") == ":0");
  CHECK(h.Run("EXISTS l3") == ":1");
}

TEST_CASE("maxmemory: the marks that OBJECT shows") {
  CommandHarness h;
  LimitMemory(h, "allkeys-lfu");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("OBJECT FREQ a") == ":5");
  for (int i = 0; i < 1000; ++i) h.Run("GET a");
  const std::string often = h.Run("OBJECT FREQ a");
  CHECK(often > ":10");
  h.Advance(60'000);
  CHECK(h.Run("OBJECT FREQ a") == StrCat(":", std::stoi(often.substr(1)) - 1));
  CHECK(h.Run("OBJECT IDLETIME a").starts_with("-ERR An LFU maxmemory policy is selected"));
}

TEST_CASE("maxmemory: nothing is evicted that could not be logged") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  h.persistence.error = absl::UnavailableError("disk full");
  CHECK(h.Run("CONFIG SET maxmemory 1 maxmemory-policy allkeys-random") == "+OK");
  CHECK(h.Run("GET a") == "\"1\"");
  CHECK(h.Run("SET b 1").starts_with("-MISCONF"));
}

}  // namespace tally::server::maxmemory_test
