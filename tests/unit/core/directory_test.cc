#include "core/table/directory.h"

#include <catch2/catch.hpp>
#include <map>
#include <memory>

#include "random_seed.h"

namespace tally::directory_test {
namespace {

struct Part {
  unsigned depth;
};

TEST_CASE("directory: one segment has every hash") {
  Part only{0};
  Directory<Part> directory(&only);
  CHECK(directory.depth() == 0);
  CHECK(directory.size() == 1);
  CHECK(directory.Find(0) == &only);
  CHECK(directory.Find(UINT64_MAX) == &only);
  CHECK(Directory<Part>::NextInterval(12345, 0) == 0);
  Directory<Part> moved = std::move(directory);
  CHECK(moved.Find(7) == &only);
  CHECK(moved.TakeLast() == &only);
  CHECK(moved.empty());
}

TEST_CASE("directory: intervals follow one another up to the end") {
  CHECK(Directory<Part>::NextInterval(0, 1) == uint64_t{1} << 63);
  CHECK(Directory<Part>::NextInterval(UINT64_MAX, 1) == 0);
  CHECK(Directory<Part>::NextInterval((uint64_t{5} << 61) + 99, 3) == uint64_t{6} << 61);
}

// Splits by dice, against a map from the lowest hash of each interval to its segment.
TEST_CASE("directory: it finds what an ordered map of intervals finds") {
  test::SeededRandom random;
  std::vector<std::unique_ptr<Part>> parts;
  const auto make = [&](unsigned depth) {
    return parts.emplace_back(std::make_unique<Part>(Part{depth})).get();
  };
  Directory<Part> directory(make(0));
  std::map<uint64_t, Part*> model{{0, parts[0].get()}};
  const auto expected = [&](uint64_t hash) { return std::prev(model.upper_bound(hash))->second; };
  for (int i = 0; i < 500; ++i) {
    const uint64_t hash = random.Next();
    Part* low = directory.Find(hash);
    REQUIRE(low == expected(hash));
    if (low->depth == 12) continue;
    if (low->depth == directory.depth()) directory.Double();
    Part* high = make(++low->depth);
    const uint64_t begin = (Directory<Part>::TopBits(hash, low->depth) | 1) << (64 - low->depth);
    directory.Assign(begin, high->depth, high);
    model[begin] = high;
  }
  uint64_t at = 0;
  size_t walked = 0;
  do {
    REQUIRE(directory.Find(at) == expected(at));
    at = Directory<Part>::NextInterval(at, directory.Find(at)->depth);
    ++walked;
  } while (at != 0);
  CHECK(walked == model.size());
  directory.Double();
  directory.Halve();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t hash = random.Next();
    REQUIRE(directory.Find(hash) == expected(hash));
  }
  size_t taken = 0;
  for (; !directory.empty(); ++taken) directory.TakeLast();
  CHECK(taken == model.size());
}

}  // namespace
}  // namespace tally::directory_test
