// The figures in replies about holds, and what HOLDS says after a clock that was set back.
#include <catch2/catch.hpp>
#include <string>

#include "core/bytes/str_cat.h"
#include "server/command_harness.h"

namespace tally::server::reservation_figures_test {
namespace {

constexpr int64_t kBegin = CommandHarness::kBegin;

// The six figures, without the token.
std::string Figures(const std::string& reply) { return reply.substr(0, reply.rfind(' ')); }

TEST_CASE("CONCURRENT: it is unused again at the last deadline of what is held") {
  CommandHarness h;
  CHECK(Figures(h.Run("LIMIT.RESERVE a 30s k CONCURRENT 3")) == "[:1 :3 :2 :0 :30000 :0");
  CHECK(Figures(h.Run("LIMIT.RESERVE b 10s k CONCURRENT 3")) == "[:1 :3 :1 :0 :30000 :0");
  CHECK(Figures(h.Run("LIMIT.EXTEND b 40s k")) == "[:1 :3 :1 :0 :40000 :0");
  h.Advance(1'000);
  CHECK(Figures(h.Run("LIMIT.RESERVE a 30s k CONCURRENT 3")) == "[:1 :3 :1 :0 :39000 :0");
  // What is cancelled, committed or empty is no use.
  h.Run("LIMIT.CANCEL b k");
  CHECK(Figures(h.Run("LIMIT.RESERVE c 5s k CONCURRENT 3")) == "[:1 :3 :1 :0 :29000 :0");
  h.Run("LIMIT.COMMIT a k COST 1 KEEP");
  CHECK(Figures(h.Run("LIMIT.RESERVE c 5s k CONCURRENT 3")) == "[:1 :3 :2 :0 :5000 :0");
  CHECK(h.Run("LIMIT.SHOW k") == StrCat(R"([["CONCURRENT" "held" :1 :)", kBegin + 1'000, " :",
                                        kBegin + 6'000, R"(] ["HOLDS" "held" :1 :)", kBegin + 1'000,
                                        " :", kBegin + 6'000, "]]"));
  h.Run("LIMIT.COMMIT c k");
  CHECK(Figures(h.Run("LIMIT.RESERVE d 2s k CONCURRENT 3")) == "[:1 :3 :2 :0 :2000 :0");
}

TEST_CASE("CONCURRENT: with very many ids the reset is a bound") {
  CommandHarness h;
  for (int i = 0; i < 1'000; ++i) {
    h.Run(StrCat("LIMIT.RESERVE id", i, " ", 10 + i % 7, "s k CONCURRENT 5000"));
  }
  h.Run("LIMIT.RESERVE last 1m k CONCURRENT 5000");
  h.Run("LIMIT.CANCEL last k");
  CHECK(Figures(h.Run("LIMIT.RESERVE id0 10s k CONCURRENT 5000")) ==
        "[:1 :5000 :4000 :0 :60000 :0");
  CHECK(h.Run("COPY k k2") == ":1");
  CHECK(Figures(h.Run("LIMIT.RESERVE id0 10s k2 CONCURRENT 5000")) ==
        "[:1 :5000 :4000 :0 :60000 :0");
}

TEST_CASE("LIMIT.EXTEND: what fits only when the hold has ended never fits") {
  CommandHarness h;
  h.Run("LIMIT.RESERVE a 30s k CONCURRENT 3 COST 2");
  h.Run("LIMIT.RESERVE b 20s k CONCURRENT 3");
  CHECK(Figures(h.Run("LIMIT.EXTEND a 30s k COST 1")) == "[:0 :3 :0 :20000 :30000 :1");
  CHECK(Figures(h.Run("LIMIT.EXTEND a 30s k COST 2")) == "[:0 :3 :0 :-1 :30000 :1");
}

TEST_CASE("A retry shows the tightest rule, whatever would be denied now") {
  CommandHarness h;
  h.Run("POLICY.SET p FIXED 11 1m FIXED 5 1h");
  h.Run("LIMIT.RESERVE a 30s k POLICY p COST 2");
  h.Run("LIMIT.FORCE k POLICY p COST 9");
  // Nothing is left of either, and the second would deny even a cost of nothing.
  CHECK(Figures(h.Run("LIMIT.RESERVE a 30s k POLICY p COST 2")) == "[:1 :11 :0 :0 :60000 :0");
  h.Run("LIMIT.TAKE once FIXED 9 1m FIXED 5 1h COST 5 ONCE id");
  CHECK(h.Run("LIMIT.TAKE once FIXED 9 1m FIXED 5 1h COST 5 ONCE id") ==
        "[:1 :5 :0 :0 :3600000 :0]");
}

TEST_CASE("HOLDS: the share is of all limits that the call names for the key") {
  CommandHarness h;
  h.Run("POLICY.SET cart HOLDS 1m 0.5");
  CHECK(Figures(h.Run("LIMIT.RESERVE a 1s k POLICY cart AND k FIXED 10 1h COST 6")) ==
        "[:0 :5 :5 :-1 :0 :1");
  CHECK(Figures(h.Run("LIMIT.RESERVE a 1s k FIXED 10 1h AND k POLICY cart COST 6")) ==
        "[:0 :5 :5 :-1 :0 :2");
  CHECK(Figures(h.Run("LIMIT.RESERVE a 1s k FIXED 10 1h AND other POLICY cart COST 6")) ==
        "[:1 :10 :4 :0 :3600000 :0");
}

TEST_CASE("HOLDS: what it allows goes back with a clock that is set back") {
  CommandHarness h;
  h.Run("POLICY.SET cart FIXED 10 1h HOLDS 1m");
  h.Advance(3'600'000);
  h.Run("LIMIT.RESERVE a 30s k POLICY cart");
  h.state.clock.Set(kBegin);
  CHECK(h.Run("LIMIT.EXTEND a 61s k") == "-ERR ttl must be at most 1m, as HOLDS says");
  CHECK(h.Run("LIMIT.EXTEND a 1m k").substr(0, 4) == "[:1 ");
}

TEST_CASE("COST: one error for each least") {
  CommandHarness h;
  const std::string from_one = "-ERR COST must be an integer of at least 1";
  const std::string from_zero = "-ERR COST must be an integer of at least 0";
  for (const char* cost : {"0", "-1", "x", "9223372036854775808"}) {
    INFO(cost);
    const bool zero = cost == std::string("0");
    CHECK(h.Run(StrCat("LIMIT.RESERVE a 1s k FIXED 5 1h COST ", cost)) == from_one);
    if (zero) continue;
    CHECK(h.Run(StrCat("LIMIT.TAKE k FIXED 5 1h COST ", cost)) == from_zero);
    CHECK(h.Run(StrCat("LIMIT.COMMIT a k COST ", cost)) == from_zero);
    CHECK(h.Run(StrCat("LIMIT.EXTEND a 1s k COST ", cost)) == from_zero);
  }
}

}  // namespace
}  // namespace tally::server::reservation_figures_test
