// GET /, /page/* and /events: the page's files, and the figures that it shows.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "server/http_peer.h"
#include "server/web/live_figures.h"
#include "server/web/page/page_assets.h"

namespace tally::server::page_routes_test {
namespace {

using Json = nlohmann::json;

std::string With(std::string_view header) { return StrCat("Host: localhost\r\n", header, "\r\n"); }

Json Figures(CommandHarness& harness) { return Json::parse(LiveFigures(harness.state.services)); }

}  // namespace

TEST_CASE("page: its files are for everybody, compressed for who takes that", "[http]") {
  CommandHarness harness;
  harness.Run("ACL SETUSER default resetpass >secret");
  HttpPeer peer(harness);
  const ResponseText plain = peer.Ask("GET /");
  CHECK(plain.status == 200);
  CHECK(plain.Header("Content-Encoding").empty());
  CHECK(plain.body == PlainBytes(*FindPageAsset("index.html")));
  const ResponseText packed =
      peer.Ask("GET /page/main.js", With("Accept-Encoding: br, gzip;q=0.8"));
  CHECK(packed.Header("Content-Encoding") == "gzip");
  CHECK(packed.Header("Content-Type") == "text/javascript; charset=utf-8");
  CHECK(packed.Header("Cache-Control") == "no-cache");
  CHECK(packed.body == FindPageAsset("main.js")->gzip);
  CHECK(peer.Ask("GET /page/main.js", With("Accept-Encoding: x-gzip"))
            .Header("Content-Encoding")
            .empty());
  const auto encoding = [&](std::string_view accepted) {
    return peer.Ask("GET /page/main.js", With(StrCat("Accept-Encoding: ", accepted)))
        .Header("Content-Encoding");
  };
  for (const char* refused : {"gzip;q=0", "gzip; q=0.000 , br", "br,gzip ;Q=0."}) {
    CAPTURE(refused);
    CHECK(encoding(refused).empty());
  }
  CHECK(encoding("br;q=0, gzip ; q=0.001") == "gzip");
  CHECK(peer.Ask("HEAD /").status == 200);
  for (const char* path :
       {"/page/", "/page/none.js", "/page/../main.js", "/page/%2e%2e", "/index"}) {
    CAPTURE(path);
    CHECK(peer.Ask(StrCat("GET ", path)).status == 404);
  }
  CHECK(peer.Ask("POST /", With("Content-Length: 0")).status == 405);
}

TEST_CASE("page: who has a file is told so", "[http]") {
  CommandHarness harness;
  HttpPeer peer(harness);
  const std::string tag = peer.Ask("GET /").Header("ETag");
  CHECK(tag == FindPageAsset("index.html")->etag);
  for (const std::string& tags : {tag, StrCat("\"x\" , ", tag), StrCat("W/", tag, ",\"y\"")}) {
    CAPTURE(tags);
    const ResponseText same = peer.Ask("GET /", With(StrCat("If-None-Match: ", tags)));
    CHECK(same.status == 304);
    CHECK(same.body.empty());
    CHECK(same.Header("ETag") == tag);
  }
  for (const char* tags : {"\"x\"", "", ",", "  ", ", ,"}) {
    CAPTURE(tags);
    CHECK(peer.Ask("GET /", With(StrCat("If-None-Match: ", tags))).status == 200);
  }
}

TEST_CASE("page: the figures are an object whose totals grow", "[http]") {
  CommandHarness harness;
  const Json before = Figures(harness);
  CHECK(before["keys"] == 0);
  CHECK(before["denied"] == 0);
  harness.Run("LIMIT.TAKE a FIXED 1 1m");
  harness.Run("LIMIT.TAKE a FIXED 1 1m");
  harness.Run("HITS.ADD b 1h");
  harness.Run("SET c 1");
  const Json after = Figures(harness);
  CHECK(after["keys"] == 3);
  CHECK(after["deadlines"] == 2);
  CHECK(after["types"]["limit"] == 1);
  CHECK(after["types"]["hits"] == 1);
  CHECK(after["types"]["string"] == 1);
  CHECK(after["types"]["quota"] == 0);
  CHECK(after["allowed"] == 1);
  CHECK(after["denied"] == 1);
  CHECK(after["commands"] == before["commands"].get<int64_t>() + 4);
  CHECK(after["run_id"] == before["run_id"]);
  CHECK(after["memory"]["used"] > 0);
  CHECK(after["latest"] == Json::parse(R"({"fine":[],"coarse":[]})"));
  CHECK(after["refusal"] == "");
  CHECK(after["log"]["appendfsync"] == "everysec");
  CHECK(after["persistence"].is_object());
}

TEST_CASE("page: the figures say why commands are refused, as their errors do") {
  CommandHarness harness;
  harness.persistence.error = absl::UnavailableError("No space left on device");
  CHECK("-" + Figures(harness)["refusal"].get<std::string>() == harness.Run("SET a 1"));
  CHECK(Figures(harness)["refusal"] ==
        "MISCONF Errors writing to the AOF file: No space left on device");
  harness.persistence.error = absl::OkStatus();
  CHECK(Figures(harness)["refusal"] == "");
  harness.state.services.loading = true;
  CHECK("-" + Figures(harness)["refusal"].get<std::string>() == harness.Run("SET a 1"));
  harness.state.services.loading = false;
  harness.state.services.script_busy = true;
  CHECK("-" + Figures(harness)["refusal"].get<std::string>() == harness.Run("SET a 1"));
  harness.state.services.script_busy = false;
  harness.Run("CONFIG SET maxmemory 1");
  CHECK(harness.Run("SET a 1").starts_with("-OOM"));
  CHECK("-" + Figures(harness)["refusal"].get<std::string>() == harness.Run("SET a 1"));
  harness.Run("CONFIG SET maxmemory 0");
  CHECK(harness.Run("SET a 1") == "+OK");
  CHECK(Figures(harness)["refusal"] == "");
  harness.Run("CLIENT PAUSE 5000 WRITE");
  CHECK(Figures(harness)["paused_until_ms"] == harness.now() + 5000);
  CHECK(Figures(harness)["paused_writes_only"] == 1);
}

TEST_CASE("page: the figures count errors by their kind, whatever scripts call theirs") {
  CommandHarness harness;
  harness.Run("NOSUCH");
  harness.Run("INCR a b");
  harness.state.stats.CountError("\"odd\xff\\ error");
  const Json kinds = Figures(harness)["errors_by_kind"];
  REQUIRE(kinds.size() == 2);
  CHECK(kinds[1] == Json::parse(R"(["ERR",2])"));
  CHECK(kinds[0][0].get<std::string>().starts_with("\"odd"));
}

TEST_CASE("page: the figures say since when they are counted") {
  CommandHarness harness;
  CHECK(Figures(harness)["counted_since_ms"] == CommandHarness::kBegin);
  harness.Advance(5000);
  harness.Run("PING");
  CHECK(Figures(harness)["counted_since_ms"] == CommandHarness::kBegin);
  harness.Run("CONFIG RESETSTAT");
  harness.Advance(5000);
  CHECK(Figures(harness)["counted_since_ms"] == CommandHarness::kBegin + 5000);
}

}  // namespace tally::server::page_routes_test
