// The past that the page draws: what a point is, how many are kept, and what clocks do to it.
#include "server/figures/figure_history.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "server/command_harness.h"
#include "server/http_peer.h"

namespace tally::server::figure_history_test {
namespace {

using Json = nlohmann::json;

constexpr int64_t kBegin = 1'700'000'000'000;

// Totals after this many seconds of a server that runs 100 requests and denies 3 a second.
FigureTotals After(int64_t seconds, int64_t clock_is_ahead_ms = 0) {
  FigureTotals totals;
  totals.at_ms = kBegin + seconds * 1000 + clock_is_ahead_ms;
  totals.monotonic_us = seconds * 1'000'000;
  totals.requests = static_cast<uint64_t>(seconds) * 100;
  totals.denied = static_cast<uint64_t>(seconds) * 3;
  totals.used_bytes = static_cast<uint64_t>(seconds);
  return totals;
}

Json Of(const FigureHistory& history) {
  std::string text;
  history.AppendJson(text);
  return Json::parse(text);
}

// The value of a field of a point.
int64_t Field(const Json& all, const Json& point, std::string_view name) {
  const auto& fields = all["fields"];
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i] == name) return point[i].get<int64_t>();
  }
  FAIL("there is no field " << name);
  return 0;
}

}  // namespace

TEST_CASE("figure history: seconds of ten minutes, and ten seconds of an hour, are kept") {
  FigureHistory history;
  CHECK(history.latest() == nullptr);
  CHECK(Of(history)["fine"].empty());
  for (int64_t second = 0; second <= 4 * 3600; ++second) {
    CHECK(history.IsDue(second * 1'000'000));
    history.Add(After(second));
    CHECK_FALSE(history.IsDue(second * 1'000'000 + 900'000));
    CHECK(history.MemoryBytes() <= 100'000);
  }
  const Json all = Of(history);
  REQUIRE(all["fine"].size() == 600);
  REQUIRE(all["coarse"].size() == 360);
  const int64_t end = kBegin + 4 * 3'600'000;
  for (size_t i = 0; i < 600; ++i) {
    const Json& point = all["fine"][i];
    CHECK(Field(all, point, "at_ms") == end - 1000 * (599 - static_cast<int64_t>(i)));
    CHECK(Field(all, point, "span_ms") == 1000);
    CHECK(Field(all, point, "requests") == 100);
    CHECK(Field(all, point, "denied") == 3);
  }
  for (size_t i = 0; i < 360; ++i) {
    const Json& point = all["coarse"][i];
    CHECK(Field(all, point, "at_ms") == end - 10'000 * (359 - static_cast<int64_t>(i)));
    CHECK(Field(all, point, "span_ms") == 10'000);
    CHECK(Field(all, point, "requests") == 1000);
  }
  CHECK(Field(all, all["coarse"].back(), "used") == 4 * 3600);
}

TEST_CASE("figure history: two readings that come together make no point") {
  FigureHistory history;
  history.Add(After(10));
  FigureTotals soon = After(10);
  soon.monotonic_us += 28'000;
  soon.requests += 500;
  CHECK_FALSE(history.IsDue(soon.monotonic_us));
  history.Add(soon);
  CHECK(history.latest() == nullptr);
  history.Add(After(11));
  REQUIRE(history.latest() != nullptr);
  CHECK(history.latest()->requests == 100);
}

TEST_CASE("figure history: a stall is one point, with its length") {
  FigureHistory history;
  history.Add(After(0));
  history.Add(After(47));
  REQUIRE(history.latest() != nullptr);
  CHECK(history.latest()->span_ms == 47'000);
  CHECK(history.latest()->requests == 4700);
}

TEST_CASE("figure history: points stay in order when the clock is set") {
  FigureHistory history;
  for (int64_t second = 0; second < 60; ++second) history.Add(After(second, 86'400'000));
  for (int64_t second = 60; second < 80; ++second) history.Add(After(second));
  const Json all = Of(history);
  CHECK(all["fine"].size() == 20);
  CHECK(all["coarse"].size() == 2);
  for (int64_t second = 80; second < 90; ++second) history.Add(After(second, 3'600'000));
  const Json later = Of(history);
  CHECK(later["fine"].size() == 30);
  int64_t before = 0;
  for (const Json& point : later["fine"]) {
    CHECK(Field(later, point, "at_ms") > before);
    before = Field(later, point, "at_ms");
    CHECK(Field(later, point, "span_ms") == 1000);
  }
}

TEST_CASE("figure history: what is counted anew after CONFIG RESETSTAT") {
  FigureHistory history;
  FigureTotals before = After(100);
  before.turns.Add(50, 1000);
  history.Add(before);
  FigureTotals reset = After(101);
  reset.requests = 7;
  reset.denied = 0;
  reset.turns.Add(900, 3);
  history.Add(reset);
  REQUIRE(history.latest() != nullptr);
  CHECK(history.latest()->requests == 7);
  CHECK(history.latest()->denied == 0);
  CHECK(history.latest()->p50_us >= 900);
}

TEST_CASE("figure history: turns are those of the point alone") {
  FigureHistory history;
  FigureTotals totals = After(0);
  totals.turns.Add(100'000, 5000);
  history.Add(totals);
  totals.monotonic_us = 1'000'000;
  totals.at_ms += 1000;
  totals.turns.Add(2, 98);
  totals.turns.Add(64, 2);
  history.Add(totals);
  REQUIRE(history.latest() != nullptr);
  CHECK(history.latest()->p50_us == 2);
  CHECK(history.latest()->p99_us >= 64);
  CHECK(history.latest()->p99_us < 80);
  CHECK(history.latest()->longest_us < 80);
}

TEST_CASE("history: GET /history is for who may run INFO", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  const ResponseText empty = peer.Ask("GET /history");
  CHECK(empty.status == 200);
  CHECK(empty.Header("Content-Type") == "application/json");
  CHECK(Json::parse(empty.body)["fine"].empty());
  for (int i = 0; i < 3; ++i) {
    harness.Run("LIMIT.TAKE a FIXED 1 1m");
    FigureTotals totals = ReadTotals(harness.state.services);
    totals.monotonic_us = (i + 1) * 1'000'000;
    totals.at_ms = CommandHarness::kBegin + i * 1000;
    harness.state.history.Add(totals);
  }
  const Json all = Json::parse(peer.Ask("GET /history").body);
  REQUIRE(all["fine"].size() == 2);
  CHECK(Field(all, all["fine"][0], "requests") == 1);
  CHECK(Field(all, all["fine"][1], "denied") == 1);
  CHECK(Field(all, all["fine"][1], "used") > 0);
  harness.Run("ACL SETUSER default -info");
  CHECK(peer.Ask("GET /history").status == 403);
  harness.Run("ACL SETUSER default resetpass >secret");
  CHECK(HttpPeer(harness).Ask("GET /history").status == 401);
}

}  // namespace tally::server::figure_history_test
