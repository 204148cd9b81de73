#include "core/zset/zset.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "random_seed.h"

namespace tally::zset_test {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kSeed = 0x5eed;
using Element = std::pair<double, std::string>;

// The naive sorted set. std::string compares as memcmp does.
class Model {
 public:
  AddResult Set(const std::string& member, double score) {
    const auto found = scores_.find(member);
    if (found == scores_.end()) {
      scores_[member] = score;
      order_.emplace(score, member);
      return AddResult::kAdded;
    }
    if (found->second == score) return AddResult::kUnchanged;
    order_.erase({found->second, member});
    order_.emplace(score, member);
    found->second = score;
    return AddResult::kUpdated;
  }
  bool Erase(const std::string& member) {
    const auto found = scores_.find(member);
    if (found == scores_.end()) return false;
    order_.erase({found->second, member});
    scores_.erase(found);
    return true;
  }
  std::vector<Element> Elements() const { return {order_.begin(), order_.end()}; }
  const std::map<std::string, double>& scores() const { return scores_; }
  size_t size() const { return scores_.size(); }

 private:
  std::set<Element> order_;
  std::map<std::string, double> scores_;
};

std::vector<Element> Collect(const ZSet& zset, RankRange range, bool reverse) {
  std::vector<Element> elements;
  zset.ForEach(range, reverse, [&](std::string_view member, double score) {
    elements.emplace_back(score, member);
    return true;
  });
  return elements;
}

std::string RandomMember(test::SeededRandom& random, size_t members) {
  static const std::vector<std::string> kOdd = {"",
                                                "0",
                                                "-0",
                                                "1",
                                                "01",
                                                "+1",
                                                "1 ",
                                                "-1",
                                                "10",
                                                "9",
                                                "-9",
                                                "a",
                                                std::string(1, '\0'),
                                                "\xff",
                                                "\xff\xff",
                                                "9223372036854775807",
                                                "-9223372036854775808",
                                                "9223372036854775808",
                                                std::string("a\0b", 3),
                                                "127",
                                                "128",
                                                "-129"};
  switch (random.Below(8)) {
    case 0:
      return kOdd[random.Below(kOdd.size())];
    case 1:
      return "member:" + std::to_string(random.Below(members));
    case 2:
      return std::string(random.Below(300), static_cast<char>('a' + random.Below(3)));
    case 3:
      return std::to_string(static_cast<int64_t>(random.Next()) >> random.Below(64));
    default:
      return std::to_string(random.Below(members));
  }
}

double RandomScore(test::SeededRandom& random) {
  switch (random.Below(8)) {
    case 0:
      return random.OneIn(2) ? kInfinity : -kInfinity;
    case 1:
      return random.OneIn(2) ? 0.0 : -0.0;
    case 2:
      return static_cast<double>(random.Next()) / 1e9;
    default:
      return static_cast<double>(random.Between(-20, 20));
  }
}

RankRange ModelScoreRange(const std::vector<Element>& elements, ScoreBound min, ScoreBound max) {
  RankRange range{0, 0};
  for (const auto& [score, member] : elements) {
    range.begin += min.exclusive ? score <= min.score : score < min.score;
    range.end += max.exclusive ? score < max.score : score <= max.score;
  }
  range.end = std::max(range.begin, range.end);
  return range;
}

// Compares everything that can be asked of both.
void RequireSame(const ZSet& zset, const Model& model, test::SeededRandom& random) {
  const std::vector<Element> elements = model.Elements();
  REQUIRE(zset.size() == elements.size());
  REQUIRE(Collect(zset, {0, zset.size()}, false) == elements);
  REQUIRE(Collect(zset, {0, zset.size()}, true) ==
          std::vector<Element>(elements.rbegin(), elements.rend()));
  for (size_t rank = 0; rank < elements.size(); ++rank) {
    const auto& [score, member] = elements[rank];
    REQUIRE(zset.Score(member) == score);
    REQUIRE_FALSE((score == 0 && std::signbit(*zset.Score(member))));
    REQUIRE(zset.Rank(member) == rank);
    REQUIRE(zset.Rank(member, true) == elements.size() - 1 - rank);
    REQUIRE(zset.At(rank) == std::pair(member, score));
  }
  for (int i = 0; i < 20; ++i) {
    const ScoreBound min{RandomScore(random), random.OneIn(2)};
    const ScoreBound max{RandomScore(random), random.OneIn(2)};
    const RankRange range = zset.ScoreRange(min, max);
    REQUIRE(range == ModelScoreRange(elements, min, max));
    const auto begin = elements.begin() + static_cast<ptrdiff_t>(range.begin);
    const auto end = elements.begin() + static_cast<ptrdiff_t>(range.end);
    REQUIRE(Collect(zset, range, false) == std::vector<Element>(begin, end));
    REQUIRE(Collect(zset, range, true) == std::vector<Element>(std::make_reverse_iterator(end),
                                                               std::make_reverse_iterator(begin)));
  }
}

void EraseRandomRange(ZSet& zset, Model& model, test::SeededRandom& random, size_t most) {
  const std::vector<Element> elements = model.Elements();
  RankRange range{0, 0};
  if (random.OneIn(2)) {
    const double score = RandomScore(random);
    range = zset.ScoreRange({score}, {score + 2, true});
  } else {
    range.begin = random.Below(elements.size() + 1);
    range.end = range.begin + random.Below(std::min(most, elements.size() - range.begin) + 1);
  }
  zset.EraseRange(range);
  for (size_t rank = range.begin; rank < range.end; ++rank) {
    REQUIRE(model.Erase(elements[rank].second));
  }
}

void RunAgainstModel(const ZSetLimits& limits, size_t members, int steps, size_t most_erased) {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  ZSet zset(random.Next());
  Model model;
  for (int step = 0; step < steps; ++step) {
    const std::string member = RandomMember(random, members);
    // Phases of growth and of decline.
    if (random.Below(100) < ((step * 4 / steps) % 2 == 0 ? 70 : 30)) {
      const double score = RandomScore(random);
      REQUIRE(zset.Set(member, score, limits) == model.Set(member, score));
    } else {
      REQUIRE(zset.Erase(member) == model.Erase(member));
    }
    REQUIRE(zset.Score(member).has_value() == model.scores().contains(member));
    if (random.OneIn(500)) EraseRandomRange(zset, model, random, most_erased);
    if (step % (steps / 8) == 0) RequireSame(zset, model, random);
  }
  RequireSame(zset, model, random);
  while (!zset.empty()) {
    const std::vector<Element> elements = model.Elements();
    const bool low = random.OneIn(2);
    const Element& popped = low ? elements.front() : elements.back();
    REQUIRE((low ? zset.PopMin() : zset.PopMax()) == std::pair(popped.second, popped.first));
    model.Erase(popped.second);
    EraseRandomRange(zset, model, random, most_erased);
  }
  REQUIRE(model.size() == 0);
}

TEST_CASE("a packed sorted set agrees with the model") {
  RunAgainstModel({.max_packed_entries = 1000, .max_packed_member = 1000}, 60, 4000, 20);
}

TEST_CASE("a large sorted set agrees with the model") {
  RunAgainstModel({.max_packed_entries = 0}, 4000, 40000, 300);
}

TEST_CASE("a sorted set with the default limits agrees with the model") {
  RunAgainstModel({}, 200, 5000, 50);
}

TEST_CASE("a sorted set leaves the small form at the limits and does not return") {
  const ZSetLimits limits;
  ZSet zset(kSeed);
  for (int i = 0; i < 128; ++i) zset.Set(std::to_string(i), i, limits);
  CHECK(std::string(zset.encoding()) == "listpack");
  CHECK(zset.Set("5", 7, limits) == AddResult::kUpdated);
  CHECK(std::string(zset.encoding()) == "listpack");
  CHECK(zset.Set("128", 128, limits) == AddResult::kAdded);
  CHECK(std::string(zset.encoding()) == "skiplist");
  zset.EraseRange({0, 128});
  CHECK(zset.size() == 1);
  CHECK(std::string(zset.encoding()) == "skiplist");

  ZSet long_member(kSeed);
  long_member.Set(std::string(64, 'x'), 1, limits);
  CHECK(std::string(long_member.encoding()) == "listpack");
  long_member.Set(std::string(65, 'x'), 1, limits);
  CHECK(std::string(long_member.encoding()) == "skiplist");
  CHECK(long_member.Score(std::string(64, 'x')) == 1);
}

TEST_CASE("equal scores order members by their bytes, integers too") {
  for (const size_t packed : {size_t{128}, size_t{0}}) {
    ZSet zset(kSeed);
    const std::vector<std::string> ordered = {"",  "-0", "-1", "0", "01",
                                              "1", "10", "9",  "a", "\xff"};
    for (auto it = ordered.rbegin(); it != ordered.rend(); ++it) {
      zset.Set(*it, 0, {.max_packed_entries = packed});
    }
    std::vector<std::string> members;
    for (const auto& [score, member] : Collect(zset, {0, zset.size()}, false)) {
      members.push_back(member);
    }
    CHECK(members == ordered);
  }
}

TEST_CASE("a negative zero is stored as zero") {
  ZSet zset(kSeed);
  CHECK(zset.Set("a", -0.0, {}) == AddResult::kAdded);
  CHECK_FALSE(std::signbit(*zset.Score("a")));
  CHECK(zset.Set("a", 0.0, {}) == AddResult::kUnchanged);
  CHECK_FALSE(std::signbit(*zset.Score("a")));
}

TEST_CASE("ranges by member of a sorted set agree with the model") {
  using Kind = LexBound::Kind;
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const size_t packed : {size_t{1000}, size_t{0}}) {
    ZSet zset(kSeed);
    std::set<std::string> model;
    for (int i = 0; i < 700; ++i) {
      const std::string member = RandomMember(random, 500);
      zset.Set(member, 7, {.max_packed_entries = packed, .max_packed_member = 400});
      model.insert(member);
    }
    const std::vector<std::string> members(model.begin(), model.end());
    for (int i = 0; i < 300; ++i) {
      const auto bound = [&](std::string& member) {
        member = RandomMember(random, 500);
        const Kind kinds[] = {Kind::kLowest, Kind::kHighest, Kind::kInclusive, Kind::kExclusive};
        return LexBound{kinds[random.Below(4)], member};
      };
      std::string low, high;
      const LexBound min = bound(low), max = bound(high);
      RankRange expected{0, 0};
      for (const std::string& member : members) {
        expected.begin += min.kind == Kind::kHighest ||
                          (min.kind == Kind::kInclusive && member < low) ||
                          (min.kind == Kind::kExclusive && member <= low);
        expected.end += max.kind == Kind::kHighest ||
                        (max.kind == Kind::kInclusive && member <= high) ||
                        (max.kind == Kind::kExclusive && member < high);
      }
      expected.end = std::max(expected.begin, expected.end);
      REQUIRE(zset.LexRange(min, max) == expected);
    }
  }
}

TEST_CASE("a walk of a sorted set stops where the visitor says") {
  for (const size_t packed : {size_t{1000}, size_t{0}}) {
    ZSet zset(kSeed);
    for (int i = 0; i < 1000; ++i) {
      zset.Set(std::to_string(i), i, {.max_packed_entries = packed});
    }
    std::vector<double> visited;
    zset.ForEach({500, 1000}, true, [&](std::string_view, double score) {
      visited.push_back(score);
      return visited.size() < 3;
    });
    CHECK(visited == std::vector<double>{999, 998, 997});
  }
}

TEST_CASE("a scan of a sorted set visits what stays once, whatever changes between its steps") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  const ZSetLimits limits;
  ZSet zset(random.Next());
  for (int i = 0; i < 2000; ++i) zset.Set("stays" + std::to_string(i), i, limits);
  std::map<std::string, int> visits;
  uint64_t cursor = 0;
  int steps = 0;
  do {
    cursor = zset.Scan(cursor, 25,
                       [&](std::string_view member, double) { ++visits[std::string(member)]; });
    REQUIRE(cursor < uint64_t{1} << 53);
    ++steps;
    const bool growing = steps % 40 < 20;
    for (int i = 0; i < 400; ++i) {
      const std::string member = std::to_string(random.Below(4000));
      if (growing) {
        zset.Set(member, 3, limits);
      } else {
        zset.Erase(member);
      }
    }
    zset.Set("stays" + std::to_string(random.Below(2000)), -1, limits);
  } while (cursor != 0);
  CHECK(steps >= 2000 / 25);
  for (int i = 0; i < 2000; ++i) REQUIRE(visits["stays" + std::to_string(i)] == 1);
}

TEST_CASE("a small sorted set is scanned in one step") {
  ZSet zset(kSeed);
  for (int i = 0; i < 100; ++i) zset.Set(std::to_string(i), i, {});
  size_t visited = 0;
  CHECK(zset.Scan(0, 10, [&](std::string_view, double) { ++visited; }) == 0);
  CHECK(visited == 100);
}

TEST_CASE("a sorted set saved in slices is loaded whole") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const int members : {50, 5000}) {
    ZSet zset(kSeed);
    for (int i = 0; i < members; ++i) zset.Set(RandomMember(random, 5000), RandomScore(random), {});
    ZSet loaded(kSeed + 1);
    uint64_t rank = 0;
    do {
      std::string run;
      const uint64_t next = zset.Save(rank, 1000, run);
      REQUIRE((next == 0 || next > rank));
      REQUIRE(run.size() < 1000 + 400);
      REQUIRE(loaded.Load(run));
      rank = next;
    } while (rank != 0);
    REQUIRE(Collect(loaded, {0, loaded.size()}, false) == Collect(zset, {0, zset.size()}, false));
    const ZSet clone = zset.Clone();
    CHECK(std::string(clone.encoding()) == zset.encoding());
    REQUIRE(Collect(clone, {0, clone.size()}, false) == Collect(zset, {0, zset.size()}, false));
    loaded.Clear();
    REQUIRE(loaded.empty());
    zset.ForEach({0, zset.size()}, false, [&](const ElementView& member, double score) {
      REQUIRE(loaded.Set(member, score, {}) == AddResult::kAdded);
      return true;
    });
    CHECK(std::string(loaded.encoding()) == zset.encoding());
    REQUIRE(Collect(loaded, {0, loaded.size()}, false) == Collect(zset, {0, zset.size()}, false));
  }
}

TEST_CASE("malformed runs of a sorted set are refused") {
  ZSet zset(kSeed);
  for (int i = 0; i < 20; ++i) zset.Set("m" + std::to_string(i), i, {});
  std::string run;
  zset.Save(0, SIZE_MAX, run);
  std::set<size_t> whole = {0};
  uint64_t rank = 0;
  size_t bytes = 0;
  do {
    std::string element;
    rank = zset.Save(rank, 1, element);
    whole.insert(bytes += element.size());
  } while (rank != 0);
  for (size_t length = 0; length <= run.size(); ++length) {
    ZSet loaded(kSeed);
    REQUIRE(loaded.Load(std::string_view(run).substr(0, length), {}) == whole.contains(length));
  }
  CHECK_FALSE(zset.Load(run, {}));
  const double nan = std::nan("");
  std::string bad(reinterpret_cast<const char*>(&nan), sizeof(nan));
  bad += "\x01x";
  ZSet loaded(kSeed);
  CHECK_FALSE(loaded.Load(bad, {}));
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int i = 0; i < 2000; ++i) {
    std::string flipped = run;
    flipped[random.Below(flipped.size())] ^= static_cast<char>(1 << random.Below(8));
    ZSet any(kSeed);
    const bool whole_run = any.Load(flipped, {});
    REQUIRE(any.size() <= 20);
    if (whole_run) REQUIRE(any.size() > 0);
  }
}

std::string HexName(test::SeededRandom& random) {
  static const char kDigits[] = "0123456789abcdef";
  std::string name(32, '0');
  for (char& digit : name) digit = kDigits[random.Below(16)];
  return name;
}

TEST_CASE("a sorted set's member costs what we promise, and all of it comes back") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  constexpr size_t kMembers = 200000;
  SECTION("hex names, random scores") {
    ZSet zset(random.Next());
    for (size_t i = 0; i < kMembers; ++i) {
      zset.Set(HexName(random), static_cast<double>(random.Below(1 << 30)), {});
    }
    CHECK(zset.MemoryBytes() / kMembers <= 66);
    int slices = 0;
    while (!zset.FreeSome(5000)) ++slices;
    CHECK(slices >= static_cast<int>(kMembers / 5000));
    CHECK(zset.MemoryBytes() < 64 * 1024);
  }
  SECTION("integers, rising scores") {
    ZSet zset(random.Next());
    for (size_t i = 0; i < kMembers; ++i) {
      zset.Set(std::to_string(random.Below(1 << 30)), static_cast<double>(i), {});
    }
    CHECK(zset.MemoryBytes() / zset.size() <= 38);
    zset.EraseRange({0, zset.size() - 1});
    CHECK(zset.size() == 1);
    CHECK(zset.MemoryBytes() < 64 * 1024);
  }
}

TEST_CASE("a set that has just left the small form is not much larger") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  ZSet zset(kSeed);
  size_t bytes = 0;
  for (size_t i = 0; i < 129; ++i) {
    const std::string member(1 + i % 64, static_cast<char>('a' + i % 26));
    zset.Set(member + std::to_string(i), 1, {});
    bytes += member.size() + 8;
  }
  CHECK(std::string(zset.encoding()) == "skiplist");
  CHECK(zset.MemoryBytes() < 4 * bytes);
}

}  // namespace
}  // namespace tally::zset_test
