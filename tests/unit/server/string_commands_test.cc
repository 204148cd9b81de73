// The replies were taken from redis-server 7.0.15.
#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::string_commands_test {
namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("set and get: values of every kind") {
  CommandHarness h;
  CHECK(h.Run("GET a") == "nil");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("GET a") == "\"1\"");
  CHECK(h.Run("SET a hello") == "+OK");
  CHECK(h.Run("GET a") == "\"hello\"");
  CHECK(h.Run({"SET", "a", ""}) == "+OK");
  CHECK(h.Run("GET a") == "\"\"");
  CHECK(h.Run({"SET", "k \x01", "v \x0d\x0a\x01"}) == "+OK");
  CHECK(h.Run({"GET", "k \x01"}) == "\"v \\r\\n\\x01\"");
  CHECK(h.Run("SET a 007") == "+OK");
  CHECK(h.Run("GET a") == "\"007\"");
  CHECK(h.Run("SET a -0") == "+OK");
  CHECK(h.Run("GET a") == "\"-0\"");
  CHECK(h.Run("SET a 9223372036854775807") == "+OK");
  CHECK(h.Run("GET a") == "\"9223372036854775807\"");
  CHECK(h.Run("SET a 9223372036854775808") == "+OK");
  CHECK(h.Run("GET a") == "\"9223372036854775808\"");
  CHECK(h.Run("GET") == "-ERR wrong number of arguments for 'get' command");
  CHECK(h.Run("SET a") == "-ERR wrong number of arguments for 'set' command");
  CHECK(h.Run("SET a 1 x") == "-ERR syntax error");
}

TEST_CASE("set: options") {
  CommandHarness h;
  CHECK(h.Run("SET a 1 NX") == "+OK");
  CHECK(h.Run("SET a 2 NX") == "nil");
  CHECK(h.Run("GET a") == "\"1\"");
  CHECK(h.Run("SET a 3 XX") == "+OK");
  CHECK(h.Run("GET a") == "\"3\"");
  CHECK(h.Run("SET none 1 XX") == "nil");
  CHECK(h.Run("GET none") == "nil");
  CHECK(h.Run("SET a 4 GET") == "\"3\"");
  CHECK(h.Run("GET a") == "\"4\"");
  CHECK(h.Run("SET none 1 GET") == "nil");
  CHECK(h.Run("GET none") == "\"1\"");
  CHECK(h.Run("SET none 2 NX GET") == "\"1\"");
  CHECK(h.Run("SET none 2 XX GET") == "\"1\"");
  CHECK(h.Run("GET none") == "\"2\"");
  CHECK(h.Run("SET a 1 NX XX") == "-ERR syntax error");
  CHECK(h.Run("SET a 1 XX NX") == "-ERR syntax error");
  CHECK(h.Run("SET a 1 EX") == "-ERR syntax error");
  CHECK(h.Run("SET a 1 EX 10 PX 10") == "-ERR syntax error");
  CHECK(h.Run("SET a 1 KEEPTTL EX 10") == "-ERR syntax error");
  CHECK(h.Run("SET a 1 EX 10 KEEPTTL") == "-ERR syntax error");
  CHECK(h.Run("SET a 1 EX x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SET a 1 EX 0") == "-ERR invalid expire time in 'set' command");
  CHECK(h.Run("SET a 1 EX -1") == "-ERR invalid expire time in 'set' command");
  CHECK(h.Run("SET a 1 PX 0") == "-ERR invalid expire time in 'set' command");
  CHECK(h.Run("SET a 1 EXAT 0") == "-ERR invalid expire time in 'set' command");
  CHECK(h.Run("SET a 1 PXAT -5") == "-ERR invalid expire time in 'set' command");
  CHECK(h.Run("SET a 1 EX 9223372036854775807") == "-ERR invalid expire time in 'set' command");
  CHECK(h.Run("SET a 1 EX 9223372036854775") == "-ERR invalid expire time in 'set' command");
  CHECK(h.Run("SET a 1 PX 9223372036854775807") == "-ERR invalid expire time in 'set' command");
  CHECK(h.Run("SET a 1 EX 10 EX 20") == "+OK");
  CHECK(h.Run("SET a 1 KEEPTTL KEEPTTL") == "+OK");
  CHECK(h.Run("SET a 1 nx nx") == "nil");
  h.Run("RPUSH l 1");
  CHECK(h.Run("SET l 1 GET") ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("SET l 1") == "+OK");
  CHECK(h.Run("TYPE l") == "+string");
}

TEST_CASE("setnx, setex, psetex, getset, getdel") {
  CommandHarness h;
  CHECK(h.Run("SETNX a 1") == ":1");
  CHECK(h.Run("SETNX a 2") == ":0");
  CHECK(h.Run("GET a") == "\"1\"");
  CHECK(h.Run("SETEX a 100 v") == "+OK");
  CHECK(h.Run("TTL a") == ":100");
  CHECK(h.Run("SETEX a 0 v") == "-ERR invalid expire time in 'setex' command");
  CHECK(h.Run("SETEX a -1 v") == "-ERR invalid expire time in 'setex' command");
  CHECK(h.Run("SETEX a x v") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SETEX a 9223372036854775807 v") == "-ERR invalid expire time in 'setex' command");
  CHECK(h.Run("PSETEX a 0 v") == "-ERR invalid expire time in 'psetex' command");
  CHECK(h.Run("PSETEX a 100000 w") == "+OK");
  CHECK(h.Run("TTL a") == ":100");
  CHECK(h.Run("GETSET a x") == "\"w\"");
  CHECK(h.Run("TTL a") == ":-1");
  CHECK(h.Run("GETSET b 1") == "nil");
  CHECK(h.Run("GET b") == "\"1\"");
  CHECK(h.Run("GETDEL b") == "\"1\"");
  CHECK(h.Run("GETDEL b") == "nil");
  CHECK(h.Run("EXISTS b") == ":0");
  h.Run("RPUSH l 1");
  CHECK(h.Run("GETSET l 1") ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("GETDEL l") == "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("GET l") == "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("TYPE l") == "+list");
}

TEST_CASE("getex") {
  CommandHarness h;
  CHECK(h.Run("GETEX a") == "nil");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("GETEX a") == "\"1\"");
  CHECK(h.Run("GETEX a EX 100") == "\"1\"");
  CHECK(h.Run("TTL a") == ":100");
  CHECK(h.Run("GETEX a PX 200000") == "\"1\"");
  CHECK(h.Run("TTL a") == ":200");
  CHECK(h.Run("GETEX a PERSIST") == "\"1\"");
  CHECK(h.Run("TTL a") == ":-1");
  CHECK(h.Run("GETEX a PERSIST EX 1") == "-ERR syntax error");
  CHECK(h.Run("GETEX a EX 1 PERSIST") == "-ERR syntax error");
  CHECK(h.Run("GETEX a EX 1 PX 1") == "-ERR syntax error");
  CHECK(h.Run("GETEX a EX") == "-ERR syntax error");
  CHECK(h.Run("GETEX a EX 0") == "-ERR invalid expire time in 'getex' command");
  CHECK(h.Run("GETEX a EX x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("GETEX a foo") == "-ERR syntax error");
  CHECK(h.Run("GETEX a KEEPTTL") == "-ERR syntax error");
  CHECK(h.Run("GETEX a NX") == "-ERR syntax error");
  CHECK(h.Run("GETEX a PERSIST PERSIST") == "\"1\"");
  CHECK(h.Run("GETEX a EXAT 1") == "\"1\"");
  CHECK(h.Run("EXISTS a") == ":0");
  h.Run("RPUSH l 1");
  CHECK(h.Run("GETEX l") == "-WRONGTYPE Operation against a key holding the wrong kind of value");
}

TEST_CASE("mget, mset, msetnx") {
  CommandHarness h;
  CHECK(h.Run("MSET a 1 b 2 c 3") == "+OK");
  CHECK(h.Run("MGET a b none c") == "[\"1\" \"2\" nil \"3\"]");
  CHECK(h.Run("MSET a") == "-ERR wrong number of arguments for 'mset' command");
  CHECK(h.Run("MSET a 1 b") == "-ERR wrong number of arguments for 'mset' command");
  CHECK(h.Run("MSET a 1 a 2") == "+OK");
  CHECK(h.Run("GET a") == "\"2\"");
  CHECK(h.Run("MSETNX d 1 a 5") == ":0");
  CHECK(h.Run("EXISTS d") == ":0");
  CHECK(h.Run("MSETNX d 1 e 5") == ":1");
  CHECK(h.Run("MGET d e") == "[\"1\" \"5\"]");
  CHECK(h.Run("MSETNX a") == "-ERR wrong number of arguments for 'msetnx' command");
  CHECK(h.Run("MSETNX a 1 b") == "-ERR wrong number of arguments for 'msetnx' command");
  h.Run("RPUSH l 1");
  CHECK(h.Run("MGET l a") == "[nil \"2\"]");
  CHECK(h.Run("MSETNX l 1 z 2") == ":0");
  CHECK(h.Run("MSET l 1") == "+OK");
  CHECK(h.Run("GET l") == "\"1\"");
}

TEST_CASE("append and strlen") {
  CommandHarness h;
  CHECK(h.Run("APPEND a foo") == ":3");
  CHECK(h.Run("APPEND a bar") == ":6");
  CHECK(h.Run("GET a") == "\"foobar\"");
  CHECK(h.Run("STRLEN a") == ":6");
  CHECK(h.Run("STRLEN none") == ":0");
  CHECK(h.Run("SET n 12") == "+OK");
  CHECK(h.Run("APPEND n 3") == ":3");
  CHECK(h.Run("GET n") == "\"123\"");
  CHECK(h.Run("INCR n") == ":124");
  CHECK(h.Run("STRLEN n") == ":3");
  CHECK(h.Run({"APPEND", "n", ""}) == ":3");
  CHECK(h.Run("GET n") == "\"124\"");
  CHECK(h.Run("OBJECT ENCODING n") == "\"raw\"");
  h.Run("RPUSH l 1");
  CHECK(h.Run("APPEND l x") ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("STRLEN l") == "-WRONGTYPE Operation against a key holding the wrong kind of value");
}

TEST_CASE("getrange and substr") {
  CommandHarness h;
  CHECK(h.Run({"SET", "a", "Hello World"}) == "+OK");
  CHECK(h.Run("GETRANGE a 0 3") == "\"Hell\"");
  CHECK(h.Run("GETRANGE a 0 -1") == "\"Hello World\"");
  CHECK(h.Run("GETRANGE a -4 -1") == "\"orld\"");
  CHECK(h.Run("GETRANGE a 5 3") == "\"\"");
  CHECK(h.Run("GETRANGE a 5 5000") == "\" World\"");
  CHECK(h.Run("GETRANGE a -5000 10000") == "\"Hello World\"");
  CHECK(h.Run("GETRANGE a 20 30") == "\"\"");
  CHECK(h.Run("GETRANGE a -3 -5") == "\"\"");
  CHECK(h.Run("GETRANGE a 0 -100") == "\"H\"");
  CHECK(h.Run("GETRANGE a -100 -50") == "\"H\"");
  CHECK(h.Run("GETRANGE a -100 0") == "\"H\"");
  CHECK(h.Run("GETRANGE none 0 -1") == "\"\"");
  CHECK(h.Run("GETRANGE a x 1") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("GETRANGE a 0 x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SUBSTR a 0 4") == "\"Hello\"");
  CHECK(h.Run("SET n 12345") == "+OK");
  CHECK(h.Run("GETRANGE n 1 2") == "\"23\"");
  CHECK(h.Run({"SET", "e", ""}) == "+OK");
  CHECK(h.Run("GETRANGE e 0 -1") == "\"\"");
  CHECK(h.Run("GETRANGE a 0 9223372036854775807") == "\"Hello World\"");
  CHECK(h.Run("GETRANGE a -9223372036854775808 9223372036854775807") == "\"Hello World\"");
  h.Run("RPUSH l 1");
  CHECK(h.Run("GETRANGE l 0 1") ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("GETRANGE a 0") == "-ERR wrong number of arguments for 'getrange' command");
}

TEST_CASE("setrange") {
  CommandHarness h;
  CHECK(h.Run("SETRANGE a 6 Redis") == ":11");
  CHECK(h.Run("GET a") == "\"\\x00\\x00\\x00\\x00\\x00\\x00Redis\"");
  CHECK(h.Run("SETRANGE b 0 foo") == ":3");
  CHECK(h.Run({"SETRANGE", "b", "1", ""}) == ":3");
  CHECK(h.Run({"SETRANGE", "none", "3", ""}) == ":0");
  CHECK(h.Run("EXISTS none") == ":0");
  CHECK(h.Run("SETRANGE b -1 x") == "-ERR offset is out of range");
  CHECK(h.Run("SETRANGE b x x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SETRANGE b 536870912 x") ==
        "-ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  CHECK(h.Run("SETRANGE b 9223372036854775807 xy") ==
        "-ERR string exceeds maximum allowed size (proto-max-bulk-len)");
  CHECK(h.Run("SET n 12345") == "+OK");
  CHECK(h.Run("SETRANGE n 1 99") == ":5");
  CHECK(h.Run("GET n") == "\"19945\"");
  CHECK(h.Run("INCR n") == ":19946");
  h.Run("RPUSH l 1");
  CHECK(h.Run("SETRANGE l 0 x") ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run({"SETRANGE", "l", "0", ""}) ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("SETRANGE b 0") == "-ERR wrong number of arguments for 'setrange' command");
}

TEST_CASE("object encoding of strings") {
  CommandHarness h;
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("OBJECT ENCODING a") == "\"int\"");
  CHECK(h.Run("SET a abc") == "+OK");
  CHECK(h.Run("OBJECT ENCODING a") == "\"embstr\"");
  CHECK(h.Run("SET a aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") == "+OK");
  CHECK(h.Run("OBJECT ENCODING a") == "\"embstr\"");
  CHECK(h.Run("SET a aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa") == "+OK");
  CHECK(h.Run("OBJECT ENCODING a") == "\"raw\"");
  CHECK(h.Run("SET a abc") == "+OK");
  CHECK(h.Run("APPEND a d") == ":4");
  CHECK(h.Run("OBJECT ENCODING a") == "\"raw\"");
  CHECK(h.Run("SET a 1") == "+OK");
  CHECK(h.Run("INCRBYFLOAT a 0.5") == "\"1.5\"");
  CHECK(h.Run("OBJECT ENCODING a") == "\"embstr\"");
}

TEST_CASE("strings: deadlines are kept, replaced or taken off") {
  CommandHarness h;
  h.Run("SET a 1 EX 100");
  CHECK(h.Run("PTTL a") == ":100000");
  h.Run("SET a 2 KEEPTTL");
  CHECK(h.Run("PTTL a") == ":100000");
  h.Run("APPEND a 3");
  h.Run("SETRANGE a 0 9");
  CHECK(h.Run("PTTL a") == ":100000");
  h.Run("SET a 4");
  CHECK(h.Run("PTTL a") == ":-1");
  h.Run("SET a 1 PXAT 1700000005000");
  CHECK(h.Run("PTTL a") == ":5000");
  h.Run("MSET a 1");
  CHECK(h.Run("PTTL a") == ":-1");
  h.Run("SET a 1 EXAT 1700000005");
  h.Advance(4999);
  CHECK(h.Run("GET a") == "\"1\"");
  h.Advance(1);
  CHECK(h.Run("GET a") == "nil");
  CHECK(h.Run("SET a 1 KEEPTTL") == "+OK");
  CHECK(h.Run("TTL a") == ":-1");
}

TEST_CASE("strings: what is logged gives the same state at any time") {
  CommandHarness h;
  h.Run("SET a 1");
  h.Run("SET a 1 EX 10");
  h.Run("SET a 2 KEEPTTL");
  h.Run("SETEX a 10 3");
  h.Run("PSETEX a 10 4");
  CHECK(h.Effects() == Lines{"SET a 1", "SET a 1 PXAT 1700000010000", "SET a 2 KEEPTTL",
                             "SET a 3 PXAT 1700000010000", "SET a 4 PXAT 1700000000010"});
  h.Run("GETEX a EX 20");
  h.Run("GETEX a PERSIST");
  h.Run("GETEX a PERSIST");  // changes nothing
  h.Run("GETEX a");
  h.Run("GETSET a 5");
  h.Run("GETDEL a");
  h.Run("GETDEL a");
  CHECK(h.Effects() == Lines{"PEXPIREAT a 1700000020000", "PERSIST a", "SET a 5", "DEL a"});
  h.Run("SETNX a 1");
  h.Run("SETNX a 1");
  h.Run("SET a 1 NX");
  h.Run("SET b 1 XX");
  h.Run("MSETNX a 1 b 1");
  h.Run("MSET a 1 b 1");
  h.Run("APPEND a x");
  h.Run("SETRANGE a 1 y");
  CHECK(h.Effects() == Lines{"SETNX a 1", "MSET a 1 b 1", "APPEND a x", "SETRANGE a 1 y"});
}

TEST_CASE("strings: an expired key is gone for every command, and its end is logged") {
  CommandHarness h;
  h.Run("SET a 1 PX 10");
  h.Effects();
  h.Advance(10);
  CHECK(h.Run("SETNX a 2") == ":1");
  CHECK(h.Effects() == Lines{"DEL a", "SETNX a 2"});
  CHECK(h.state.stats.expired_keys == 1);
}

TEST_CASE("strings: values longer than proto-max-bulk-len cannot be built") {
  CommandHarness h;
  h.config.proto_max_bulk_len = 10;
  const std::string error = "-ERR string exceeds maximum allowed size (proto-max-bulk-len)";
  CHECK(h.Run("APPEND a 12345678") == ":8");
  CHECK(h.Run("APPEND a 90") == ":10");
  CHECK(h.Run("APPEND a 1") == error);
  CHECK(h.Run("SETRANGE a 10 x") == error);
  CHECK(h.Run("SETRANGE a 9 x") == ":10");
}

}  // namespace tally::server::string_commands_test
