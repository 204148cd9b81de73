// The backlog against all deliveries of the stream in one string.
#include "server/replication/backlog.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <string>

#include "random_seed.h"

namespace tally::server::backlog_test {
namespace {

TEST_CASE("a backlog is read from where a delivery begins, up to its end", "[backlog]") {
  Backlog backlog(100);
  CHECK(backlog.Has(100));
  CHECK_FALSE(backlog.Has(99));
  CHECK_FALSE(backlog.Has(101));
  backlog.Append(0, "abc");
  backlog.Append(7, "defg");
  CHECK(backlog.end() == 107);
  CHECK(backlog.From(100)->effects() == "abcdefg");
  CHECK(backlog.From(100)->database == 0);
  CHECK(backlog.From(103)->effects() == "defg");
  CHECK(backlog.From(103)->database == 7);
  CHECK_FALSE(backlog.Has(101));
  CHECK_FALSE(backlog.From(107).has_value());
  CHECK(backlog.Has(107));
  CHECK_FALSE(backlog.Has(108));
}

TEST_CASE("what is needed is not trimmed, and neither is the size that is asked for", "[backlog]") {
  Backlog backlog(0);
  const std::string large(Backlog::kBatchBytes, 'x');
  for (int i = 0; i < 10; ++i) backlog.Append(0, large);
  backlog.Trim(3 * large.size(), 2 * large.size());
  CHECK(backlog.begin() == 2 * large.size());
  backlog.Trim(3 * large.size(), UINT64_MAX);
  CHECK(backlog.begin() == 7 * large.size());
  CHECK_FALSE(backlog.Has(6 * large.size()));
  backlog.Trim(0, UINT64_MAX);
  CHECK(backlog.begin() == backlog.end());
  CHECK(backlog.Has(backlog.end()));
  backlog.Append(1, "more");
  CHECK(backlog.From(10 * large.size())->effects() == "more");
}

TEST_CASE("a delivery that is larger than a batch is one part", "[backlog]") {
  Backlog backlog(0);
  backlog.Append(0, "small");
  const std::string large(5 * Backlog::kBatchBytes, 'x');
  backlog.Append(0, large);
  backlog.Append(0, "small");
  CHECK(backlog.From(0)->effects() == "small");
  CHECK(backlog.From(5)->effects() == large);
  // A part outlives its place in the backlog.
  const auto part = backlog.From(5);
  backlog.Trim(0, UINT64_MAX);
  CHECK(part->effects() == large);
}

TEST_CASE("readers of a backlog see what was appended, whatever is trimmed meanwhile",
          "[backlog]") {
  test::SeededRandom random;
  const uint64_t start = random.Below(1'000'000);
  Backlog backlog(start);
  std::string all;
  std::map<uint64_t, size_t> begins;  // of the deliveries, with their databases
  for (int round = 0; round < 3000; ++round) {
    const size_t size = 1 + random.Below(random.OneIn(50) ? 100'000 : 500);
    const auto letter = static_cast<char>('a' + random.Below(26));
    const size_t database = random.Below(16);
    begins[start + all.size()] = database;
    backlog.Append(database, std::string(size, letter));
    all.append(size, letter);
    if (random.OneIn(3)) {
      const uint64_t needed = backlog.begin() + random.Below(backlog.bytes() + 1);
      const uint64_t keep = random.Below(200'000);
      const uint64_t before = backlog.begin();
      backlog.Trim(keep, needed);
      REQUIRE(backlog.begin() >= before);
      if (backlog.begin() > before) {
        REQUIRE(backlog.begin() <= needed);
        REQUIRE(backlog.bytes() >= keep);
      }
    }
    REQUIRE(backlog.end() == start + all.size());
    for (int read = 0; read < 3; ++read) {
      const uint64_t at = backlog.begin() + random.Below(backlog.bytes() + 2);
      const auto begin = begins.find(at);
      const auto part = backlog.From(at);
      REQUIRE(part.has_value() == (begin != begins.end()));
      if (!part) continue;
      REQUIRE(part->database == begin->second);
      REQUIRE(all.substr(at - start, part->effects().size()) == part->effects());
      const uint64_t next = at + part->effects().size();
      REQUIRE((next == backlog.end() || begins.contains(next)));
    }
  }
}

}  // namespace
}  // namespace tally::server::backlog_test
