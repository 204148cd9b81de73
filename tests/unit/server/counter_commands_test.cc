// The replies were taken from redis-server 7.0.15.
#include <catch2/catch.hpp>

#include "server/command_harness.h"

namespace tally::server::counter_commands_test {
namespace {

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("incr and its kin") {
  CommandHarness h;
  CHECK(h.Run("INCR a") == ":1");
  CHECK(h.Run("INCRBY a 10") == ":11");
  CHECK(h.Run("DECR a") == ":10");
  CHECK(h.Run("DECRBY a 5") == ":5");
  CHECK(h.Run("GET a") == "\"5\"");
  CHECK(h.Run("INCRBY a -3") == ":2");
  CHECK(h.Run("DECRBY a -3") == ":5");
  CHECK(h.Run("GET a") == "\"5\"");
  CHECK(h.Run("SET a 9223372036854775807") == "+OK");
  CHECK(h.Run("INCR a") == "-ERR increment or decrement would overflow");
  CHECK(h.Run("INCRBY a 1") == "-ERR increment or decrement would overflow");
  CHECK(h.Run("DECR a") == ":9223372036854775806");
  CHECK(h.Run("SET a -9223372036854775808") == "+OK");
  CHECK(h.Run("DECR a") == "-ERR increment or decrement would overflow");
  CHECK(h.Run("DECRBY a 1") == "-ERR increment or decrement would overflow");
  CHECK(h.Run("DECRBY a -9223372036854775808") == "-ERR decrement would overflow");
  CHECK(h.Run("INCRBY a x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("INCRBY a 1.5") == "-ERR value is not an integer or out of range");
  CHECK(h.Run({"INCRBY", "a", ""}) == "-ERR value is not an integer or out of range");
  CHECK(h.Run({"INCRBY", "a", " 1"}) == "-ERR value is not an integer or out of range");
  CHECK(h.Run("INCRBY a 9223372036854775808") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SET a abc") == "+OK");
  CHECK(h.Run("INCR a") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SET a 1.5") == "+OK");
  CHECK(h.Run("INCR a") == "-ERR value is not an integer or out of range");
  CHECK(h.Run({"SET", "a", " 1"}) == "+OK");
  CHECK(h.Run("INCR a") == "-ERR value is not an integer or out of range");
  CHECK(h.Run({"SET", "a", "1 "}) == "+OK");
  CHECK(h.Run("INCR a") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("SET a 01") == "+OK");
  CHECK(h.Run("INCR a") == "-ERR value is not an integer or out of range");
  CHECK(h.Run({"SET", "a", ""}) == "+OK");
  CHECK(h.Run("INCR a") == "-ERR value is not an integer or out of range");
  h.Run("RPUSH l 1");
  CHECK(h.Run("INCR l") == "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("INCRBYFLOAT l 1") ==
        "-WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(h.Run("INCR") == "-ERR wrong number of arguments for 'incr' command");
  CHECK(h.Run("INCR a b") == "-ERR wrong number of arguments for 'incr' command");
  CHECK(h.Run("INCRBY a") == "-ERR wrong number of arguments for 'incrby' command");
  CHECK(h.Run("OBJECT ENCODING none") == "nil");
}

TEST_CASE("incrbyfloat") {
  CommandHarness h;
  CHECK(h.Run("INCRBYFLOAT a 1") == "\"1\"");
  CHECK(h.Run("INCRBYFLOAT a 1.5") == "\"2.5\"");
  CHECK(h.Run("INCRBYFLOAT a 0.1") == "\"2.6\"");
  CHECK(h.Run("INCRBYFLOAT a -2.6") == "\"0\"");
  CHECK(h.Run("GET a") == "\"0\"");
  CHECK(h.Run("SET a 10.50") == "+OK");
  CHECK(h.Run("INCRBYFLOAT a 0.1") == "\"10.6\"");
  CHECK(h.Run("INCRBYFLOAT a -5") == "\"5.6\"");
  CHECK(h.Run("SET a 5.0e3") == "+OK");
  CHECK(h.Run("INCRBYFLOAT a 2.0e2") == "\"5200\"");
  CHECK(h.Run("SET a 3") == "+OK");
  CHECK(h.Run("INCRBYFLOAT a 1.000000000000000005") == "\"4.00000000000000001\"");
  CHECK(h.Run("SET a 1e400") == "+OK");
  CHECK(h.Run("INCRBYFLOAT a 1") ==
        "\"1000000000000000000028188068394758651458645343362905203862591069353968553400862986203936"
        "399484832416052209405392731761620029582277725925573402382897659334066101779744743454617391"
        "786244811667497172377894382439159333804747067502624668440135923751360383034373548550524495"
        "596497902182503828009106841494740245689865304095101751265809261582758892018347251164331659"
        "1362664138176309734806343732497430221946880\"");
  CHECK(h.Run("SET a 17179869184") == "+OK");
  CHECK(h.Run("INCRBYFLOAT a 1.5") == "\"17179869185.5\"");
  CHECK(h.Run("INCRBYFLOAT a x") == "-ERR value is not a valid float");
  CHECK(h.Run({"INCRBYFLOAT", "a", ""}) == "-ERR value is not a valid float");
  CHECK(h.Run("INCRBYFLOAT a inf") == "-ERR increment would produce NaN or Infinity");
  CHECK(h.Run("INCRBYFLOAT a -inf") == "-ERR increment would produce NaN or Infinity");
  CHECK(h.Run("INCRBYFLOAT a nan") == "-ERR value is not a valid float");
  CHECK(h.Run({"INCRBYFLOAT", "a", " 1"}) == "-ERR value is not a valid float");
  CHECK(h.Run({"INCRBYFLOAT", "a", "1 "}) == "-ERR value is not a valid float");
  CHECK(h.Run("SET a abc") == "+OK");
  CHECK(h.Run("INCRBYFLOAT a 1") == "-ERR value is not a valid float");
  CHECK(h.Run("SET a 0") == "+OK");
  CHECK(h.Run("INCRBYFLOAT a 1e17") == "\"100000000000000000\"");
  CHECK(h.Run("INCRBYFLOAT a 0.00000000000000001") == "\"100000000000000000\"");
  CHECK(h.Run("SET a 1") == "+OK");
}

TEST_CASE("counters: deadlines stay, and sums of floats are logged as results") {
  CommandHarness h;
  h.Run("SET a 1 EX 10");
  h.Run("INCR a");
  h.Run("DECRBY a 5");
  CHECK(h.Run("PTTL a") == ":10000");
  h.Run("INCRBYFLOAT a 0.5");
  CHECK(h.Run("PTTL a") == ":10000");
  CHECK(h.Effects() ==
        Lines{"SET a 1 PXAT 1700000010000", "INCR a", "DECRBY a 5", "SET a -2.5 KEEPTTL"});
  CHECK(h.Run("INCR a") == "-ERR value is not an integer or out of range");
  CHECK(h.Effects().empty());
  h.Advance(10000);
  CHECK(h.Run("INCR a") == ":1");
  CHECK(h.Run("PTTL a") == ":-1");
}

TEST_CASE("increx: counts within bounds") {
  CommandHarness h;
  CHECK(h.Run("INCREX a") == "[:1 :1]");
  CHECK(h.Run("INCREX a BYINT 9 UBOUND 10") == "[:10 :9]");
  CHECK(h.Run("INCREX a UBOUND 10") == "[:10 :0]");
  CHECK(h.Run("INCREX a BYINT 5 UBOUND 12 SATURATE") == "[:12 :2]");
  CHECK(h.Run("INCREX a BYINT -20 LBOUND 0") == "[:12 :0]");
  CHECK(h.Run("INCREX a BYINT -20 LBOUND 0 SATURATE") == "[:0 :-12]");
  CHECK(h.Run("GET a") == "\"0\"");
  CHECK(h.Run("INCREX b UBOUND 0") == "[:0 :0]");
  CHECK(h.Run("EXISTS b") == ":0");
  h.Run("SET a 9223372036854775807");
  CHECK(h.Run("INCREX a") == "[:9223372036854775807 :0]");
  CHECK(h.Run("INCREX a SATURATE") == "[:9223372036854775807 :0]");
}

TEST_CASE("increx: dates the counter in the same step") {
  CommandHarness h;
  CHECK(h.Run("INCREX a EX 10 ENX") == "[:1 :1]");
  CHECK(h.Run("PTTL a") == ":10000");
  h.Advance(1000);
  CHECK(h.Run("INCREX a EX 10 ENX") == "[:2 :1]");  // the window does not move
  CHECK(h.Run("PTTL a") == ":9000");
  CHECK(h.Run("INCREX a PX 500") == "[:3 :1]");
  CHECK(h.Run("PTTL a") == ":500");
  CHECK(h.Run("INCREX a UBOUND 3 EX 100") == "[:3 :0]");  // denied: the deadline stays
  CHECK(h.Run("PTTL a") == ":500");
  CHECK(h.Run("INCREX a PERSIST") == "[:4 :1]");
  CHECK(h.Run("PTTL a") == ":-1");
  CHECK(h.Effects() == Lines{"SET a 1 PXAT 1700000010000", "SET a 2 KEEPTTL",
                             "SET a 3 PXAT 1700000001500", "SET a 4"});
}

TEST_CASE("increx: floats") {
  CommandHarness h;
  CHECK(h.Run("INCREX a BYFLOAT 1.5") == "[\"1.5\" \"1.5\"]");
  CHECK(h.Run("INCREX a BYFLOAT 1.5 UBOUND 2") == "[\"1.5\" \"0\"]");
  CHECK(h.Run("INCREX a BYFLOAT 1.5 UBOUND 2 SATURATE") == "[\"2\" \"0.5\"]");
  CHECK(h.Run("INCREX a BYFLOAT -10 LBOUND -0.5 SATURATE") == "[\"-0.5\" \"-2.5\"]");
  CHECK(h.Run("INCREX a BYFLOAT inf") == "-ERR increment would produce NaN or Infinity");
}

TEST_CASE("increx: refuses what makes no sense, and changes nothing") {
  CommandHarness h;
  h.Run("SET a 1");
  h.Run("SET s x");
  h.Effects();
  for (const char* line :
       {"INCREX a ENX", "INCREX a foo", "INCREX a BYINT", "INCREX a EX 10 PERSIST",
        "INCREX a EX 10 PX 10", "INCREX a BYINT 1 BYFLOAT 2", "INCREX a PERSIST ENX",
        "INCREX a SATURATE SATURATE", "INCREX a ENX EX 10 ENX", "INCREX a PERSIST PERSIST",
        "INCREX a LBOUND 1 LBOUND 1", "INCREX a UBOUND 1 UBOUND 1", "INCREX a BYINT 1 BYINT 1"}) {
    INFO(line);
    CHECK(h.Run(line) == "-ERR syntax error");
  }
  CHECK(h.Run("INCREX a BYINT x") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("INCREX a LBOUND 5 UBOUND 4") == "-ERR LBOUND can't be greater than UBOUND");
  CHECK(h.Run("INCREX a EX 0") == "-ERR invalid expire time in 'increx' command");
  CHECK(h.Run("INCREX s") == "-ERR value is not an integer or out of range");
  CHECK(h.Run("GET a") == "\"1\"");
  CHECK(h.Effects().empty());
}

}  // namespace tally::server::counter_commands_test
