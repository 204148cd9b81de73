// GET /, /page/* and /events: the page's files, and the figures that it shows.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>

#include "server/http_peer.h"
#include "server/page/page_assets.h"
#include "server/web/live_figures.h"

namespace tally::server {
namespace {

using Json = nlohmann::json;

std::string With(std::string_view header) { return StrCat("Host: localhost\r\n", header, "\r\n"); }

Json Figures(CommandHarness& harness) { return Json::parse(LiveFigures(harness.state.figures)); }

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
  CHECK(after["turns"]["upto"].is_array());
  CHECK(after["persistence"].is_object());
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

}  // namespace tally::server
