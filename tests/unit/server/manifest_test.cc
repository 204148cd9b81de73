#include "server/aof/manifest.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace tally::server::manifest_test {
namespace {

Manifest Example() {
  return {ManifestEntry{"appendonly.aof.2.base.tly", 2},
          {{"appendonly.aof.7.incr.aof", 7}, {"appendonly.aof.8.incr.aof", 8}}};
}

TEST_CASE("A manifest is written in Redis's syntax and read back") {
  const std::string text = Example().Format();
  CHECK(
      text.starts_with("file appendonly.aof.2.base.tly seq 2 type b\n"
                       "file appendonly.aof.7.incr.aof seq 7 type i\n"
                       "file appendonly.aof.8.incr.aof seq 8 type i\n"
                       "#TALLY-MANIFEST 1 "));
  const auto parsed = Manifest::Parse(text, "m");
  REQUIRE(parsed.ok());
  CHECK(*parsed == Example());
  CHECK(parsed->Lists("appendonly.aof.8.incr.aof"));
  CHECK(!parsed->Lists("appendonly.aof.9.incr.aof"));

  const auto empty = Manifest::Parse(Manifest().Format(), "m");
  REQUIRE(empty.ok());
  CHECK(*empty == Manifest());
}

TEST_CASE("A manifest that was cut or flipped anywhere is refused") {
  const std::string text = Example().Format();
  for (size_t i = 0; i < text.size(); ++i) {
    CHECK(absl::IsDataLoss(Manifest::Parse(text.substr(0, i), "m").status()));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = text;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << bit));
      INFO("byte " << i << " bit " << bit);
      CHECK(absl::IsDataLoss(Manifest::Parse(flipped, "m").status()));
    }
  }
}

TEST_CASE("A manifest with a right checksum and wrong content is refused with its line") {
  Manifest falling = Example();
  std::swap(falling.logs[0], falling.logs[1]);
  const auto status = Manifest::Parse(falling.Format(), "the-manifest").status();
  CHECK(absl::IsDataLoss(status));
  CHECK(std::string(status.message()) == "the-manifest line 3: log sequences do not rise");

  Manifest outside = Example();
  outside.logs[0].name = "../../etc/passwd";
  CHECK(absl::IsDataLoss(Manifest::Parse(outside.Format(), "m").status()));
}

TEST_CASE("A name with blanks and what cannot be seen is quoted as Redis does it") {
  for (const std::string& name :
       {std::string("app only.aof.1.incr.aof"), std::string("a\"b\\c\td\ne'f"),
        std::string("\"") + '\0' + "\x7f\xff" + "1", std::string(" "), std::string("\\\"")}) {
    INFO(name);
    const Manifest manifest{ManifestEntry{name, 1}, {{name, 7}}};
    const std::string text = manifest.Format();
    CHECK(std::count(text.begin(), text.end(), '\n') == 3);
    const auto parsed = Manifest::Parse(text, "m");
    REQUIRE(parsed.ok());
    CHECK(*parsed == manifest);
  }
  const Manifest blank{{}, {{"app only.aof.1.incr.aof", 1}}};
  CHECK(blank.Format().starts_with("file \"app only.aof.1.incr.aof\" seq 1 type i\n"));
}

TEST_CASE("A manifest of Redis is known as that, and read") {
  for (const char* base :
       {"appendonly.aof.1.base.rdb", "appendonly.aof.1.base.aof", "\"app only.aof.1.base.rdb\""}) {
    const std::string text = absl::StrCat("file ", base, " seq 1 type b\n",
                                          "file appendonly.aof.1.incr.aof seq 1 type i\n",
                                          "file appendonly.aof.0.incr.aof seq 1 type h\n");
    const auto status = Manifest::Parse(text, "the-manifest").status();
    CHECK(absl::IsFailedPrecondition(status));
    CHECK(status.message().find("the-manifest was written by Redis") == 0);
    CHECK(Manifest::IsOfRedis(text));
    const auto manifest = Manifest::ParseOfRedis(text, "the-manifest");
    REQUIRE(manifest.ok());
    REQUIRE(manifest->base.has_value());
    CHECK(manifest->base->name.ends_with(base[0] == '"' ? "only.aof.1.base.rdb" : base));
    CHECK(manifest->logs == std::vector<ManifestEntry>{{"appendonly.aof.1.incr.aof", 1}});
  }
}

TEST_CASE("What Redis 8 adds to a manifest is passed over, and what is no manifest is not read") {
  const std::string base = "file appendonly.aof.2.base.rdb seq 2 type b\n";
  CHECK(Manifest::ParseOfRedis(base + "file a.3.incr.aof seq 3 type i startoffset 17\n", "m").ok());
  CHECK(Manifest::ParseOfRedis("#comment\n\n" + base, "m").ok());
  const auto error = [](std::string_view text) {
    return std::string(Manifest::ParseOfRedis(text, "m").status().message());
  };
  CHECK(error("") == "m line 1: it names no files");
  CHECK(error(base + base) == "m line 2: a second base");
  CHECK(error(base + "garbage").find("m line 2: expected") == 0);
  CHECK(error("file ../etc/passwd seq 1 type b\n").find("m line 1: expected") == 0);
  const Manifest ours{ManifestEntry{"appendonly.aof.1.base.tly", 1}, {{"a.1.incr.aof", 1}}};
  CHECK(error(ours.Format()) == "m line 3: not written by Redis");
  CHECK_FALSE(Manifest::IsOfRedis(ours.Format()));
}

}  // namespace
}  // namespace tally::server::manifest_test
