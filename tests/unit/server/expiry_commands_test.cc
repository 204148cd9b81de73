// The replies were taken from redis-server 7.0.15.
#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::expiry_commands_test {
namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("expire: replies and conditions") {
  CommandHarness h;
  CHECK(h.Run("EXPIRE none 10") == ":0");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("EXPIRE a 100") == ":1");
  CHECK(h.Run("TTL a") == ":100");
  CHECK(h.Run("EXPIRE a 200 NX") == ":0");
  CHECK(h.Run("EXPIRE a 200 XX") == ":1");
  CHECK(h.Run("TTL a") == ":200");
  CHECK(h.Run("EXPIRE a 100 GT") == ":0");
  CHECK(h.Run("EXPIRE a 300 GT") == ":1");
  CHECK(h.Run("EXPIRE a 400 LT") == ":0");
  CHECK(h.Run("EXPIRE a 50 LT") == ":1");
  CHECK(h.Run("TTL a") == ":50");
  CHECK(h.Run("PERSIST a") == ":1");
  CHECK(h.Run("PERSIST a") == ":0");
  CHECK(h.Run("PERSIST none") == ":0");
  CHECK(h.Run("EXPIRE a 100 GT") == ":0");
  CHECK(h.Run("EXPIRE a 100 XX") == ":0");
  CHECK(h.Run("TTL a") == ":-1");
  CHECK(h.Run("EXPIRE a 100 LT") == ":1");
  CHECK(h.Run("TTL a") == ":100");
  CHECK(h.Run("EXPIRE a 100 XX GT") == ":0");
  CHECK(h.Run("EXPIRE a 500 XX GT") == ":1");
  CHECK(h.Run("EXPIRE a 100 NX XX") ==
        "-ERR NX and XX, GT or LT options at the same time are not compatible");
  CHECK(h.Run("EXPIRE a 100 NX GT") ==
        "-ERR NX and XX, GT or LT options at the same time are not compatible");
  CHECK(h.Run("EXPIRE a 100 GT LT") ==
        "-ERR GT and LT options at the same time are not compatible");
  CHECK(h.Run("EXPIRE a 100 NX NX") == ":0");
  CHECK(h.Run("EXPIRE a 100 foo") == "-ERR Unsupported option foo");
  CHECK(h.Run("EXPIRE a x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("EXPIRE a 1.5") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("EXPIRE a 9223372036854775807") == "-ERR invalid expire time in 'expire' command");
  CHECK(h.Run("EXPIRE a -9223372036854775808") == "-ERR invalid expire time in 'expire' command");
  CHECK(h.Run("EXPIRE a 9223372036854775") == "-ERR invalid expire time in 'expire' command");
  CHECK(h.Run("PEXPIRE a 9223372036854775807") == "-ERR invalid expire time in 'pexpire' command");
  CHECK(h.Run("PEXPIREAT a 9223372036854775807") == ":1");
  CHECK(h.Run("TTL a") == ":9223370336854776");
  CHECK(h.Run("EXPIRETIME a") == ":9223372036854776");
  CHECK(h.Run("EXPIREAT a 9223372036854775") == ":1");
  CHECK(h.Run("EXPIREAT a 9223372036854776") == "-ERR invalid expire time in 'expireat' command");
  CHECK(h.Run("EXPIRE a") == "-ERR wrong number of arguments for 'expire' command");
  CHECK(h.Run("EXPIRE none x") == "-ERR value is not an integer or out of range");
}

TEST_CASE("expire: the past deletes") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("EXPIRE a 0") == ":1");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("EXPIRE a -1") == ":1");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("PEXPIRE a -1") == ":1");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("EXPIREAT a 1") == ":1");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("PEXPIREAT a 1") == ":1");
  CHECK(h.Run("EXISTS a") == ":0");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("EXPIREAT a 0") == ":1");
  CHECK(h.Run("EXISTS a") == ":0");
}

TEST_CASE("ttl and its kin") {
  CommandHarness h;
  CHECK(h.Run("TTL none") == ":-2");
  CHECK(h.Run("PTTL none") == ":-2");
  CHECK(h.Run("EXPIRETIME none") == ":-2");
  CHECK(h.Run("PEXPIRETIME none") == ":-2");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("TTL a") == ":-1");
  CHECK(h.Run("PTTL a") == ":-1");
  CHECK(h.Run("EXPIRETIME a") == ":-1");
  CHECK(h.Run("PEXPIRETIME a") == ":-1");
  CHECK(h.Run("EXPIREAT a 33177117420") == ":1");
  CHECK(h.Run("EXPIRETIME a") == ":33177117420");
  CHECK(h.Run("PEXPIRETIME a") == ":33177117420000");
  CHECK(h.Run("PEXPIREAT a 33177117420500") == ":1");
  CHECK(h.Run("EXPIRETIME a") == ":33177117421");
  CHECK(h.Run("PEXPIRETIME a") == ":33177117420500");
  CHECK(h.Run("PEXPIREAT a 33177117420499") == ":1");
  CHECK(h.Run("EXPIRETIME a") == ":33177117420");
  CHECK(h.Run("TTL") == "-ERR wrong number of arguments for 'ttl' command");
}

TEST_CASE("expiry: effects carry instants") {
  CommandHarness h;
  h.Run("SET a 1");
  h.Effects();
  h.Run("EXPIRE a 10");
  h.Run("PEXPIRE a 10 GT");  // refused
  h.Run("PEXPIRE a 20000 GT");
  h.Run("PERSIST a");
  h.Run("PERSIST a");
  h.Run("EXPIRE a -1");
  h.Run("EXPIRE a 10");
  CHECK(h.Effects() ==
        Lines{"PEXPIREAT a 1700000010000", "PEXPIREAT a 1700000020000", "PERSIST a", "DEL a"});
}

TEST_CASE("expiry: the seconds left are rounded, the milliseconds are exact") {
  CommandHarness h;
  h.Run("SET a 1 PX 1500");
  CHECK(h.Run("TTL a") == ":2");
  CHECK(h.Run("PTTL a") == ":1500");
  h.Advance(1);
  CHECK(h.Run("TTL a") == ":1");
  CHECK(h.Run("PTTL a") == ":1499");
  CHECK(h.Run("PEXPIRETIME a") == ":1700000001500");
  CHECK(h.Run("EXPIRETIME a") == ":1700000002");
  h.Advance(1498);
  CHECK(h.Run("TTL a") == ":0");
  CHECK(h.Run("PTTL a") == ":1");
  h.Advance(1);
  CHECK(h.Run("PTTL a") == ":-2");
}

TEST_CASE("expiry: due keys go without being asked for, and their end is logged once") {
  CommandHarness h;
  for (int i = 0; i < 100; ++i) {
    h.Run({"SET", StrCat("k", i), "1", "PX", std::to_string(i + 1)});
  }
  h.Run("SET stays 1");
  h.Effects();
  h.Advance(50);
  h.ExpireDue();
  CHECK(h.Run("DBSIZE") == ":51");
  CHECK(h.Effects().size() == 50);
  h.Advance(1000);
  h.ExpireDue();
  CHECK(h.Run("DBSIZE") == ":1");
  CHECK(h.Effects().size() == 50);
  CHECK(h.state.stats.expired_keys == 100);
}

TEST_CASE("expiry: SCAN and OBJECT remove what is due and log it, MEMORY USAGE does not") {
  for (const char* look : {"OBJECT ENCODING dead", "OBJECT IDLETIME dead", "SCAN 0"}) {
    CommandHarness h;
    h.Run("SET dead 1 PX 10");
    h.Run("SET stays 1 PX 11");
    h.Effects();
    h.Advance(10);
    CHECK(h.Run("MEMORY USAGE dead").starts_with(":"));
    CHECK(h.Run("SCAN 0 MATCH st*") == "[\"0\" [\"stays\"]]");
    CHECK(h.Run("DBSIZE") == ":2");
    h.Run(look);
    CHECK(h.Run("DBSIZE") == ":1");
    CHECK(h.Effects() == Lines{"DEL dead"});
    CHECK(h.state.stats.expired_keys == 1);
  }
}

TEST_CASE("expiry: while the log is replayed only its own records end keys") {
  CommandHarness h;
  const auto replay = [&](std::vector<std::string_view> args) {
    h.dispatcher.Replay(*h.self, *h.commands.Find(args[0]), args);
  };
  replay({"SET", "a", "1"});
  replay({"PEXPIREAT", "a", "1"});
  CHECK(h.engine.database(0).size() == 1);
}

}  // namespace tally::server::expiry_commands_test
