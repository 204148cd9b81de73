// Reservations and ONCE through their commands: what the contract says, one case after the other.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/command_harness.h"
#include "server/replay.h"

namespace tally::server::reservation_commands_test {
namespace {

constexpr int64_t kBegin = CommandHarness::kBegin;

// The reply but for the figures between allowed and the token.
std::string Short(const std::string& reply) {
  if (reply.substr(0, 2) != "[:") return reply;
  const size_t token = reply.rfind(':');
  return StrCat(reply.substr(2, 1), " ", reply.substr(token + 1, reply.size() - token - 2));
}

std::string Held(CommandHarness& h, std::string_view key) {
  return h.Run(StrCat("LIMIT.HELD ", key));
}
int64_t Left(CommandHarness& h, std::string_view rule) {
  const std::string reply = h.Run(StrCat("LIMIT.PEEK ", rule, " COST 0"));
  const size_t second = reply.find(':', reply.find(':', 2) + 1);
  return std::stoll(reply.substr(second + 1));
}

TEST_CASE("LIMIT.RESERVE holds until it is settled or ends") {
  CommandHarness h;
  const std::string reserve = "LIMIT.RESERVE o 10s k FIXED 5 1m COST 3";
  CHECK(h.Run(reserve) == StrCat("[:1 :5 :2 :0 :60000 :0 :", kBegin, "]"));
  h.Advance(1'000);
  // A retry.
  CHECK(h.Run(reserve) == StrCat("[:1 :5 :2 :0 :59000 :0 :", kBegin, "]"));
  CHECK(Held(h, "k") == StrCat("[[\"o\" :3 :", kBegin, " :", kBegin + 10'000, " :", kBegin, "]]"));
  // Who is denied waits for the deadline, not for the window.
  CHECK(h.Run("LIMIT.RESERVE p 10s k FIXED 5 1m COST 3") == "[:0 :5 :2 :9000 :59000 :1 :0]");
  CHECK(h.Run("LIMIT.TAKE k FIXED 5 1m COST 3") == "[:0 :5 :2 :9000 :59000 :1]");
  h.Advance(8'999);
  CHECK(Left(h, "k FIXED 5 1m") == 2);
  h.Advance(1);
  CHECK(Left(h, "k FIXED 5 1m") == 5);
  CHECK(Held(h, "k") == "[]");
  CHECK(h.Run(reserve) == "-SETTLED expired");
  CHECK(h.Run("LIMIT.COMMIT o k") == "[:3 :0 :0]");
  // It is forgotten ten minutes after its deadline, and the key with it.
  h.Advance(600'000 - 1);
  CHECK(h.Run("EXISTS k") == ":1");
  h.Advance(1);
  CHECK(h.Run("EXISTS k") == ":0");
  CHECK(h.Run("LIMIT.COMMIT o k") == "[:0 :0 :0]");
}

TEST_CASE("LIMIT.COMMIT counts once") {
  CommandHarness h;
  h.Run("LIMIT.RESERVE o 10s k FIXED 9 1m COST 6");
  CHECK(h.Run("LIMIT.COMMIT o k COST 2") == "[:1 :6 :2]");
  CHECK(h.Run("LIMIT.COMMIT o k COST 4") == "[:2 :6 :2]");
  CHECK(Left(h, "k FIXED 9 1m") == 7);
  CHECK(h.Run("LIMIT.CANCEL o k") == "[:2 :0]");
  CHECK(h.Run("LIMIT.RESERVE o 10s k FIXED 9 1m") == "-SETTLED committed");
  // More than was held, and beyond the limit.
  h.Run("LIMIT.RESERVE p 10s k FIXED 9 1m");
  CHECK(h.Run("LIMIT.COMMIT p k COST 20") == "[:1 :1 :20]");
  CHECK(Left(h, "k FIXED 9 1m") == 0);
  CHECK(h.Run("LIMIT.SHOW k").find(":22") != std::string::npos);
}

TEST_CASE("LIMIT.COMMIT: LATE, KEEP and FORCE") {
  CommandHarness h;
  h.Run("LIMIT.RESERVE o 5m k SLIDING 9 1m COST 6");
  h.Advance(50'000);
  CHECK(h.Run("LIMIT.COMMIT o k COST 2 KEEP") == "[:1 :6 :2]");
  CHECK(Held(h, "k").find(":4") != std::string::npos);
  CHECK(h.Run("LIMIT.COMMIT o k COST 3 LATE") == "[:1 :4 :3]");
  CHECK(Left(h, "k SLIDING 9 1m") == 4);
  h.Advance(10'000);
  CHECK(Left(h, "k SLIDING 9 1m") == 6);
  h.Run("LIMIT.RESERVE p 1s k SLIDING 9 1m COST 2");
  h.Advance(1'000);
  CHECK(h.Run("LIMIT.COMMIT p k COST 4") == "[:3 :0 :0]");
  CHECK(h.Run("LIMIT.COMMIT p k COST 4 FORCE") == "[:3 :0 :4]");
  CHECK(h.Run("LIMIT.COMMIT p k COST 4 FORCE") == "[:2 :0 :4]");
  CHECK(Left(h, "k SLIDING 9 1m") == 2);
  CHECK(h.Run("LIMIT.COMMIT never k COST 1 FORCE") == "[:0 :0 :1]");
  CHECK(h.Run("LIMIT.COMMIT never k COST 1 FORCE") == "[:2 :0 :1]");
  CHECK(Left(h, "k SLIDING 9 1m") == 1);
}

TEST_CASE("LIMIT.EXTEND and CANCEL, all keys or none") {
  CommandHarness h;
  CHECK(Short(h.Run("LIMIT.RESERVE o 10s a FIXED 5 1m AND b CONCURRENT 2")) ==
        StrCat("1 ", kBegin));
  CHECK(h.Run("LIMIT.COMMIT o a") ==
        "-ERR key must be each of those that the id is held on, and no other");
  CHECK(h.Run("LIMIT.CANCEL o a b c") ==
        "-ERR key must be each of those that the id is held on, and no other");
  CHECK(Short(h.Run("LIMIT.EXTEND o 20s a b COST 2")) == "0 0");
  CHECK(Short(h.Run("LIMIT.EXTEND o 20s a b COST 1")) == StrCat("1 ", kBegin));
  CHECK(Left(h, "a FIXED 5 1m") == 3);
  CHECK(h.Run("LIMIT.RESERVE p 1s b CONCURRENT 2") == "[:0 :2 :0 :20000 :20000 :1 :0]");
  CHECK(h.Run("LIMIT.CANCEL o a b") == "[:1 :2]");
  CHECK(h.Run("LIMIT.CANCEL o a b") == "[:4 :0]");
  CHECK(Left(h, "a FIXED 5 1m") == 5);
  // Each token is greater than those before, also when a key was gone meanwhile.
  CHECK(Short(h.Run("LIMIT.RESERVE q 1s b CONCURRENT 2")) == StrCat("1 ", kBegin + 1));
  h.Run("LIMIT.RESET b");
  h.Advance(5);
  CHECK(Short(h.Run("LIMIT.RESERVE r 1s b CONCURRENT 2")) == StrCat("1 ", kBegin + 5));
}

TEST_CASE("LIMIT.TAKE … ONCE counts a retry once") {
  CommandHarness h;
  const std::string take = "LIMIT.TAKE a FIXED 3 1m AND b SLIDING 9 1h ONCE r COST 2";
  CHECK(h.Run(take) == "[:1 :3 :1 :0 :60000 :0]");
  CHECK(h.Run(take) == "[:1 :3 :1 :0 :60000 :0]");
  CHECK(h.Run("LIMIT.TAKE a FIXED 3 1m ONCE r") ==
        "-ERR ONCE must be an id that took on all of these keys, or on none");
  // A denial is not remembered.
  CHECK(h.Run("LIMIT.TAKE a FIXED 3 1m COST 2 ONCE s")[2] == '0');
  h.Advance(60'000);
  CHECK(h.Run("LIMIT.TAKE a FIXED 3 1m COST 2 ONCE s")[2] == '1');
  CHECK(Left(h, "a FIXED 3 1m") == 1);
  // Remembered while the hit counts, which it does for an hour on b.
  h.Advance(3'539'999);
  CHECK(h.Run("LIMIT.FORCE b SLIDING 9 1h ONCE r").substr(0, 4) == "-ERR");
  h.Advance(1);
  CHECK(h.Run("LIMIT.FORCE b SLIDING 9 1h ONCE r")[2] == '1');
  CHECK(Left(h, "b SLIDING 9 1h") == 8);
}

TEST_CASE("Reservations: bad input is named, and nothing is done") {
  CommandHarness h;
  const std::string longest(256, 'i');
  const std::string id_error = "-ERR id must have 1 to 256 bytes";
  CHECK(h.Run(CommandHarness::Words{"LIMIT.RESERVE", "", "1s", "k", "FIXED", "5", "1m"}) ==
        id_error);
  CHECK(h.Run(StrCat("LIMIT.RESERVE ", longest, "i 1s k FIXED 5 1m")) == id_error);
  CHECK(h.Run("LIMIT.RESERVE x 0 k FIXED 5 1m").substr(0, 12) == "-ERR ttl mus");
  CHECK(h.Run("LIMIT.RESERVE x -1s k FIXED 5 1m").substr(0, 12) == "-ERR ttl mus");
  CHECK(h.Run("LIMIT.RESERVE x 365000d k FIXED 5 1m") == "-ERR ttl must be at most 366d");
  CHECK(h.Run("LIMIT.RESERVE x 1s k FIXED 5 1m COST 0").substr(0, 13) == "-ERR COST mus");
  CHECK(h.Run("LIMIT.TAKE k CONCURRENT 5") ==
        "-ERR CONCURRENT limits what is held: only LIMIT.RESERVE may use it");
  CHECK(h.Run("LIMIT.TAKE k FIXED 5 1m ONCE " + longest + "i") ==
        "-ERR ONCE must have 1 to 256 bytes");
  CHECK(h.Run("LIMIT.COMMIT x k COST -1").substr(0, 13) == "-ERR COST mus");
  CHECK(h.Run("LIMIT.COMMIT x k COST 9223372036854775808").substr(0, 13) == "-ERR COST mus");
  CHECK(h.Run("LIMIT.COMMIT x k LATE LATE").substr(0, 24) == "-ERR LATE is given twice");
  CHECK(h.Run("LIMIT.CANCEL x k COST 1").substr(0, 17) == "-ERR syntax error");
  CHECK(h.Run("DBSIZE") == ":0");
  CHECK(h.Effects().empty());
  CHECK(h.Run(StrCat("LIMIT.RESERVE ", longest, " 1s k FIXED 5 1m"))[2] == '1');
  CHECK(h.Run("LIMIT.RESERVE o 1s k FIXED 5 1m COST 2")[2] == '1');
  CHECK(h.Run("LIMIT.RESERVE o 1s k FIXED 5 1m") == "-ERR COST must be what the id holds");
  CHECK(h.Run("LIMIT.RESERVE o 1s k FIXED 6 1m COST 2") ==
        "-ERR rule must be what the id is held under");
  CHECK(h.Run("LIMIT.COMMIT o k COST 9223372036854775807") == "[:1 :2 :9223372036854775807]");
  h.Run("SET s 1");
  CHECK(h.Run("LIMIT.RESERVE o2 1s k2 FIXED 5 1m AND s FIXED 5 1m").substr(0, 10) == "-WRONGTYPE");
  CHECK(h.Run("EXISTS k2") == ":0");
}

TEST_CASE("HOLDS in a policy: no hold is longer, and none takes a larger share") {
  CommandHarness h;
  CHECK(h.Run("LIMIT.TAKE k HOLDS 10s") == "-ERR HOLDS may only be in a policy");
  CHECK(h.Run("LIMIT.RESERVE a 1s k HOLDS 10s FIXED 5 1m") == "-ERR HOLDS may only be in a policy");
  h.Run("POLICY.SET cart FIXED 10 1h HOLDS 10s 0.3");
  CHECK(h.Run("LIMIT.TAKE k POLICY cart COST 5")[2] == '1');
  CHECK(h.Run("LIMIT.RESERVE a 10001ms k POLICY cart") ==
        "-ERR ttl must be at most 10s, as HOLDS says");
  CHECK(h.Run("LIMIT.RESERVE a 10s k POLICY cart COST 4") == "[:0 :3 :3 :-1 :0 :2 :0]");
  CHECK(h.Run("DENIALS").find("\"cart\"") != std::string::npos);
  CHECK(h.Run("LIMIT.RESERVE a 8s k POLICY cart COST 2")[2] == '1');
  h.Advance(4'000);
  // From its beginning on, and with what it holds already; whatever the policy says now.
  h.Run("POLICY.SET cart FIXED 10 1h");
  CHECK(h.Run("LIMIT.EXTEND a 6001ms k") == "-ERR ttl must be at most 6s, as HOLDS says");
  CHECK(h.Run("LIMIT.EXTEND a 6s k COST 2")[2] == '0');
  CHECK(h.Run("LIMIT.EXTEND a 6s k COST 1")[2] == '1');
  CHECK(Left(h, "k FIXED 10 1h") == 2);
  // One of a limit of one is no share too large.
  h.Run("POLICY.SET one CONCURRENT 1 HOLDS 10s");
  CHECK(h.Run("LIMIT.RESERVE a 1s sem POLICY one")[2] == '1');
}

TEST_CASE("SHADOW: the log has what was counted") {
  CommandHarness h;
  h.Run("POLICY.SET new SLIDING 2 1m");
  for (int i = 0; i < 4; ++i) {
    CHECK(h.Run("LIMIT.TAKE k FIXED 9 1m SHADOW POLICY new AND l SHADOW FIXED 1 1m")[2] == '1');
  }
  CHECK(h.Run("LIMIT.RESERVE a 10s k FIXED 9 1m SHADOW POLICY new SHADOW CONCURRENT 1")[2] == '1');
  CHECK(h.Run("LIMIT.RESERVE b 10s k FIXED 9 1m SHADOW POLICY new SHADOW CONCURRENT 1")[2] == '1');
  // A retry is the same, whichever of its shadows have counted it.
  CHECK(h.Run("LIMIT.RESERVE b 10s k FIXED 9 1m SHADOW DENY")[2] == '1');
  const std::string shown = h.Run("LIMIT.SHOW k");
  CHECK(shown.find("\"SHADOW SLIDING\" :60000 :2 ") != std::string::npos);
  CHECK(shown.find("\"SHADOW CONCURRENT\" \"held\" :1 ") != std::string::npos);
  CHECK(shown.find("\"HOLDS\" \"held\" :2 ") != std::string::npos);
  CommandHarness copy;
  ReplayInto(copy, h.Effects(), h.now());
  for (const std::string_view key : {"k", "l"}) {
    CHECK(copy.Run(StrCat("LIMIT.SHOW ", key)) == h.Run(StrCat("LIMIT.SHOW ", key)));
    CHECK(copy.Run(StrCat("PEXPIRETIME ", key)) == h.Run(StrCat("PEXPIRETIME ", key)));
  }
  CHECK(Held(copy, "k") == Held(h, "k"));
}

TEST_CASE("Reservations: a bucket gives back no token twice, and GIVE none that is held") {
  CommandHarness h;
  const std::string rule = "k BUCKET 10 10 1m";
  h.Run(StrCat("LIMIT.RESERVE a 5m ", rule, " COST 10"));
  h.Advance(30'000);
  CHECK(Left(h, rule) == 5);
  h.Run(StrCat("LIMIT.TAKE ", rule, " COST 5"));
  CHECK(h.Run("LIMIT.CANCEL a k") == "[:1 :10]");
  // 5 of the 10 have come back by themselves.
  CHECK(Left(h, rule) == 5);
  h.Run("LIMIT.RESERVE b 5m f FIXED 5 1m SLIDING 5 1h COST 3");
  h.Run("LIMIT.TAKE f FIXED 5 1m SLIDING 5 1h");
  CHECK(h.Run("LIMIT.GIVE f 9") == ":1");
  CHECK(Left(h, "f FIXED 5 1m") == 2);
  CHECK(Left(h, "f SLIDING 5 1h") == 2);
  CHECK(h.Run("LIMIT.CANCEL b f") == "[:1 :3]");
  CHECK(Left(h, "f FIXED 5 1m") == 5);
  CHECK(Left(h, "f SLIDING 5 1h") == 5);
}

TEST_CASE("Reservations: ids of any bytes, and calls that find nothing") {
  CommandHarness h;
  const std::string binary("\0\r\n\xff", 4);
  CHECK(h.Run(CommandHarness::Words{"LIMIT.RESERVE", binary, "1s", "k", "FIXED", "5", "1m"})[2] ==
        '1');
  CHECK(h.Run(CommandHarness::Words{"LIMIT.CANCEL", binary, "k"}) == "[:1 :1]");
  CHECK(h.Run(CommandHarness::Words{"LIMIT.COMMIT", binary, "k", "COST", "0"}) == "[:4 :0 :0]");
  CHECK(h.Run("LIMIT.RESERVE a 1s k FIXED 5 1m COST 2")[2] == '1');
  CHECK(h.Run("LIMIT.COMMIT a k COST 0") == "[:1 :2 :0]");
  CHECK(h.Run("LIMIT.COMMIT a k") == "[:2 :2 :0]");
  CHECK(h.Run("LIMIT.COMMIT a other") == "[:0 :0 :0]");
  CHECK(h.Run("LIMIT.COMMIT a k k").substr(0, 2) == "[:");
  CHECK(h.Run("LIMIT.EXTEND never 1s k") == "-ERR id is not held");
  CHECK(h.Run("LIMIT.EXTEND a 1s k") == "-SETTLED committed");
  CHECK(h.Run("LIMIT.HELD none") == "[]");
  CHECK(h.Run("LIMIT.CANCEL a none") == "[:0 :0]");
  CHECK(h.Run("EXISTS none other") == ":0");
}

TEST_CASE("Reservations: the most ids of a key") {
  CommandHarness h;
  h.config.limit_max_holds = 2;
  CHECK(h.Run("LIMIT.RESERVE a 1s k FIXED 9 1m")[2] == '1');
  CHECK(h.Run("LIMIT.TAKE k FIXED 9 1m ONCE b")[2] == '1');
  const std::string error = "-ERR the key has limit-max-holds holds and settled ids";
  CHECK(h.Run("LIMIT.RESERVE c 1s k FIXED 9 1m") == error);
  CHECK(h.Run("LIMIT.TAKE k FIXED 9 1m ONCE c") == error);
  CHECK(h.Run("LIMIT.COMMIT c k FORCE") == error);
  CHECK(h.Run("LIMIT.COMMIT a k") == "[:1 :1 :1]");
  CHECK(h.Run("LIMIT.TAKE k FIXED 9 1m")[2] == '1');
  CHECK(Left(h, "k FIXED 9 1m") == 6);
}

TEST_CASE("Reservations: a log is replayed to the same state") {
  CommandHarness h;
  h.Run("LIMIT.RESERVE a 10s k FIXED 9 1m COST 3");
  h.Run("LIMIT.RESERVE b 20s k FIXED 9 1m AND l CONCURRENT 5 COST 3");
  h.Run("LIMIT.TAKE k FIXED 9 1m ONCE c");
  h.Advance(11'000);
  // Denied; but what has ended is settled by it.
  CHECK(h.Run("LIMIT.TAKE k FIXED 9 1m COST 8")[2] == '0');
  CHECK(h.Run("LIMIT.EXTEND b 30s k l COST 1")[2] == '1');
  CHECK(h.Run("LIMIT.COMMIT b k l COST 2 KEEP") == "[:1 :4 :2]");
  CommandHarness copy;
  ReplayInto(copy, h.Effects(), h.now());
  for (const std::string_view key : {"k", "l"}) {
    CHECK(Held(copy, key) == Held(h, key));
    CHECK(copy.Run(StrCat("LIMIT.SHOW ", key)) == h.Run(StrCat("LIMIT.SHOW ", key)));
    CHECK(copy.Run(StrCat("PEXPIRETIME ", key)) == h.Run(StrCat("PEXPIRETIME ", key)));
  }
  CHECK(copy.Run("LIMIT.COMMIT a k") == "[:3 :0 :0]");
  CHECK(copy.Run("LIMIT.COMMIT b k l") == "[:1 :2 :2]");
}

TEST_CASE("Reservations: many ids of one key") {
  CommandHarness h;
  for (int i = 0; i < 3'000; ++i) {
    REQUIRE(h.Run(StrCat("LIMIT.RESERVE id:", i, " ", 1 + i % 50, "s k SLIDING 3000 1h"))[2] ==
            '1');
  }
  CHECK(Left(h, "k SLIDING 3000 1h") == 0);
  CHECK(h.Run("COPY k copy") == ":1");
  for (int i = 0; i < 3'000; i += 3) {
    REQUIRE(h.Run(StrCat("LIMIT.COMMIT id:", i, " k")) == "[:1 :1 :1]");
  }
  h.Advance(60'000);
  CHECK(Left(h, "k SLIDING 3000 1h") == 2'000);
  CHECK(Left(h, "copy SLIDING 3000 1h") == 3'000);
  CHECK(Held(h, "k") == "[]");
  h.Advance(700'000);
  CHECK(h.Run("LIMIT.TAKE k SLIDING 3000 1h")[2] == '1');
  CHECK(h.Run("LIMIT.COMMIT id:0 k") == "[:0 :0 :0]");
}

}  // namespace
}  // namespace tally::server::reservation_commands_test
