#include "server/web/page/page_assets.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>

namespace tally::server::page_assets_test {

TEST_CASE("page assets: each file has a name, a type and a tag of its own") {
  std::set<std::string_view> names;
  std::set<std::string_view> tags;
  for (const PageAsset& asset : PageAssets()) {
    CAPTURE(asset.name);
    CHECK(names.insert(asset.name).second);
    CHECK(tags.insert(asset.etag).second);
    CHECK(asset.etag.size() > 10);
    CHECK(asset.etag.front() == '"');
    CHECK(asset.etag.back() == '"');
    CHECK_FALSE(asset.content_type.empty());
    CHECK(asset.gzip.substr(0, 2) == "\x1f\x8b");
    CHECK(PlainBytes(asset).size() == asset.plain_bytes);
  }
  REQUIRE(FindPageAsset("index.html") != nullptr);
  CHECK(FindPageAsset("index.html")->content_type == "text/html; charset=utf-8");
  CHECK(PlainBytes(*FindPageAsset("index.html")).starts_with("<!doctype html>"));
  CHECK(FindPageAsset("index") == nullptr);
  CHECK(FindPageAsset("") == nullptr);
}

TEST_CASE("page assets: what is ours stays small, and holds no style or script of markup") {
  size_t ours = 0;
  for (const PageAsset& asset : PageAssets()) {
    if (!asset.name.starts_with("dygraph") && asset.name != "licenses.txt") {
      ours += asset.plain_bytes;
    }
  }
  CHECK(ours > 0);
  CHECK(ours <= 130'000);
  const std::string index = PlainBytes(*FindPageAsset("index.html"));
  CHECK(index.find("<style") == std::string::npos);
  CHECK(index.find(" style=") == std::string::npos);
  CHECK(index.find("http:") == std::string::npos);
  CHECK(index.find("https:") == std::string::npos);
}

}  // namespace tally::server::page_assets_test
