#include "core/set/set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/bytes/number.h"
#include "random_seed.h"

namespace tally::set_test {
namespace {

constexpr uint64_t kSeed = 0x5eed;
const SetLimits kLimits;

std::vector<std::string> MembersOf(const Set& set) {
  std::vector<std::string> members;
  set.ForEach([&](std::string_view member) {
    members.emplace_back(member);
    return true;
  });
  return members;
}

std::vector<std::string> Sorted(std::vector<std::string> members) {
  std::sort(members.begin(), members.end());
  return members;
}

Set SetOf(const std::vector<std::string>& members) {
  Set set(kSeed);
  for (const std::string& member : members) set.Insert(member, kLimits);
  return set;
}

std::vector<std::string> Numbered(const std::string& prefix, int count) {
  std::vector<std::string> members;
  for (int i = 0; i < count; ++i) members.push_back(prefix + std::to_string(i));
  return members;
}

void CheckSame(const Set& set, const std::set<std::string>& model) {
  REQUIRE(set.size() == model.size());
  REQUIRE(Sorted(MembersOf(set)) == std::vector<std::string>(model.begin(), model.end()));
}

std::string RandomMember(test::SeededRandom& random, bool only_integers) {
  static const std::vector<std::string> kOdd = {"",
                                                "01",
                                                "-0",
                                                "+1",
                                                "1 ",
                                                "9223372036854775808",
                                                "\xff",
                                                std::string("\0a\0", 3),
                                                "00f1e2d3c4b5a69788796a5b4c3d2e1f",
                                                std::string(300, 'x')};
  static const std::vector<std::string> kIntegers = {"0",
                                                     "-1",
                                                     "32767",
                                                     "32768",
                                                     "-32769",
                                                     "2147483648",
                                                     "9223372036854775807",
                                                     "-9223372036854775808"};
  if (random.OneIn(20)) return kIntegers[random.Below(kIntegers.size())];
  if (!only_integers && random.OneIn(3)) return kOdd[random.Below(kOdd.size())];
  if (!only_integers && random.OneIn(2)) return "m" + std::to_string(random.Below(150));
  return std::to_string(random.Between(-150, 150));
}

// Inserts the member, if it is an integer now and then as a number.
bool Insert(test::SeededRandom& random, Set& set, const std::string& member,
            const SetLimits& limits) {
  const std::optional<int64_t> number = ParseInt64(member);
  return number && random.OneIn(2) ? set.Insert(*number, limits) : set.Insert(member, limits);
}

TEST_CASE("set: agrees with a model, as intset, packed and as a table") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const size_t max_integers : {0, 10, 512}) {
    for (const bool only_integers : {false, true}) {
      const SetLimits limits{max_integers};
      Set set(kSeed);
      std::set<std::string> model;
      for (int i = 0; i < 3000; ++i) {
        const std::string member = RandomMember(random, only_integers);
        if (random.OneIn(3)) {
          REQUIRE(set.Erase(member) == (model.erase(member) > 0));
        } else {
          REQUIRE(Insert(random, set, member, limits) == model.insert(member).second);
        }
        const std::string other = RandomMember(random, only_integers);
        REQUIRE(set.Contains(other) == (model.count(other) > 0));
        if (i % 100 == 0) CheckSame(set, model);
      }
      CheckSame(set, model);
      const Set copy = set.Clone();
      while (!set.empty()) set.Erase(MembersOf(set).front());
      CheckSame(copy, model);
    }
  }
}

TEST_CASE(
    "set: one that is cleared is filled again like a new one, and its copy has its own size") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Set set(kSeed);
  for (int round = 0; round < 200; ++round) {
    set.Clear();
    REQUIRE(set.empty());
    const Set empty(kSeed);
    REQUIRE(set.encoding() == empty.encoding());
    Set other(kSeed);
    for (uint64_t left = random.Below(random.OneIn(9) ? 200 : 20); left > 0; --left) {
      const std::string member = RandomMember(random, round % 3 == 0);
      REQUIRE(set.Insert(member, kLimits) == other.Insert(member, kLimits));
    }
    REQUIRE(Sorted(MembersOf(set)) == Sorted(MembersOf(other)));
    REQUIRE(set.encoding() == other.encoding());
    REQUIRE(set.is_small() == other.is_small());
    if (set.is_small()) REQUIRE(set.Clone().MemoryBytes() == other.Clone().MemoryBytes());
  }
}

TEST_CASE("set: integers are an intset, in their order, within the limit") {
  Set set = SetOf({"30", "-5", "1000000000000", "7"});
  CHECK(set.encoding() == "intset");
  CHECK(MembersOf(set) == std::vector<std::string>{"-5", "7", "30", "1000000000000"});
  SECTION("another text makes it a hashtable") {
    set.Insert("07", kLimits);
    CHECK(set.encoding() == "hashtable");
    CHECK(Sorted(MembersOf(set)) == Sorted({"-5", "7", "30", "1000000000000", "07"}));
    set.Erase("07");
    CHECK(set.encoding() == "hashtable");
  }
  SECTION("so does one more than the limit") {
    for (int i = 0; i < 508; ++i) set.Insert(std::to_string(100 + i), kLimits);
    CHECK(set.size() == 512);
    CHECK(set.encoding() == "intset");
    set.Insert("99", kLimits);
    CHECK(set.encoding() == "hashtable");
    CHECK(set.size() == 513);
    CHECK(set.Contains("-5"));
  }
}

TEST_CASE("set: an intset has a bound that no limit moves, and keeps its form up to there") {
  constexpr SetLimits kNone{SIZE_MAX};
  Set set(kSeed);
  for (size_t i = 0; i < Set::kMaxIntegers; ++i) set.Insert(std::to_string(i), kNone);
  CHECK(set.encoding() == "intset");
  std::string run;
  REQUIRE(set.Save(0, SIZE_MAX, run) == 0);
  Set loaded(kSeed);
  REQUIRE(loaded.Load(run));
  CHECK(loaded.encoding() == "intset");
  set.Insert("-1", kNone);
  CHECK(set.encoding() == "hashtable");
  CHECK(set.size() == Set::kMaxIntegers + 1);
}

TEST_CASE("set: an intset takes two bytes for a short integer") {
  Set set(kSeed);
  const size_t empty = set.MemoryBytes();
  for (int i = 0; i < 512; ++i) set.Insert(std::to_string(i), kLimits);
  CHECK(set.MemoryBytes() - empty <= 512 * 2 * 5 / 4 + 16);
}

TEST_CASE("set: small sets of strings are packed") {
  Set set(kSeed);
  const size_t empty = set.MemoryBytes();
  for (int i = 0; i < 20; ++i) set.Insert("user:" + std::to_string(1000 + i), kLimits);
  CHECK(set.MemoryBytes() - empty <= 20 * 10 * 5 / 4 + 16);
  CHECK(MembersOf(set) == MembersOf(set.Clone()));
  CHECK(MembersOf(set).front() == "user:1000");
}

TEST_CASE("set: a walk stops when it is told to") {
  for (const auto& members : {Numbered("", 100), Numbered("m", 50), Numbered("m", 5000)}) {
    int visited = 0;
    SetOf(members).ForEach([&](std::string_view) { return ++visited < 7; });
    CHECK(visited == 7);
  }
}

TEST_CASE("set: a scan visits what stays exactly once, whatever else comes and goes") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Set set = SetOf(Numbered("stays:", 3000));
  std::map<std::string, int> visits;
  uint64_t cursor = 0;
  do {
    cursor = set.Scan(cursor, 10, [&](std::string_view member) { ++visits[std::string(member)]; });
    for (int i = 0; i < 20; ++i) {
      set.Insert("new:" + std::to_string(random.Below(20000)), kLimits);
      set.Erase("new:" + std::to_string(random.Below(20000)));
    }
  } while (cursor != 0);
  for (const std::string& member : Numbered("stays:", 3000)) REQUIRE(visits[member] == 1);
}

TEST_CASE("set: samples are distinct where asked for, and near uniform") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const auto& members : {Numbered("", 50), Numbered("m", 50), Numbered("m", 3000)}) {
    const Set set = SetOf(members);
    for (const size_t count : {size_t{1}, size_t{17}, set.size() - 1, set.size()}) {
      std::set<std::string> chosen;
      set.SampleDistinct(
          count, [&] { return random.Next(); },
          [&](std::string_view member) { chosen.emplace(member); });
      CHECK(chosen.size() == count);
      for (const std::string& member : chosen) CHECK(set.Contains(member));
    }
    std::map<std::string, int> draws;
    constexpr int kDrawsEach = 40;
    for (size_t i = 0; i < set.size() * kDrawsEach; ++i) {
      set.Sample(random.Next(), [&](std::string_view member) { ++draws[std::string(member)]; });
    }
    REQUIRE(draws.size() == set.size());
    // A uniform draw stays within six standard deviations; segments differ a little in size.
    for (const auto& [member, times] : draws) {
      REQUIRE(times > 2);
      REQUIRE(times < kDrawsEach * 3);
    }
  }
}

TEST_CASE("set: samples drawn together are those drawn one by one") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const auto& members : {Numbered("", 50), Numbered("m", 50), Numbered("m", 3000)}) {
    const Set set = SetOf(members);
    std::vector<uint64_t> numbers;
    std::vector<std::string> drawn;
    set.SampleRepeated(
        5000, [&] { return numbers.emplace_back(random.Next()); },
        [&](std::string_view member) { drawn.emplace_back(member); });
    REQUIRE(numbers.size() == 5000);
    std::vector<std::string> alone;
    for (const uint64_t number : numbers) {
      set.Sample(number, [&](std::string_view member) { alone.emplace_back(member); });
    }
    CHECK(drawn == alone);
  }
}

TEST_CASE("set: saves in runs and loads them") {
  for (const auto& members :
       {Numbered("", 1), Numbered("-1", 500), Numbered("m", 30), Numbered("m", 5000)}) {
    const Set set = SetOf(members);
    Set loaded(kSeed + 1);
    uint64_t cursor = 0;
    int runs = 0;
    do {
      std::string run;
      cursor = set.Save(cursor, 500, run);
      REQUIRE(loaded.Load(run));
      ++runs;
    } while (cursor != 0);
    CHECK((runs > 1) == (members.size() >= 500));
    CHECK(loaded.encoding() == set.encoding());
    CHECK(Sorted(MembersOf(loaded)) == Sorted(members));
  }
}

TEST_CASE("set: malformed runs are refused") {
  CHECK_FALSE(Set(kSeed).Load(""));
  CHECK_FALSE(Set(kSeed).Load("x"));
  CHECK_FALSE(
      Set(kSeed).Load("s\x05"
                      "abc"));
  CHECK_FALSE(Set(kSeed).Load("i\x80"));
  // 5, then 5 again, then 4: integers rise.
  CHECK(Set(kSeed).Load("i\x0a"));
  CHECK_FALSE(Set(kSeed).Load(std::string_view("i\x0a\x00", 3)));
  CHECK_FALSE(Set(kSeed).Load("i\x0a\x01"));
  // No difference goes past the largest integer.
  std::string run;
  SetOf({"9223372036854775807"}).Save(0, 100, run);
  CHECK_FALSE(Set(kSeed).Load(run + "\x02"));
}

TEST_CASE("set: is freed in slices") {
  Set set = SetOf(Numbered("m", 20000));
  int slices = 1;
  while (!set.FreeSome(1000)) ++slices;
  CHECK(slices > 5);
  CHECK(set.empty());
  CHECK(SetOf({"1", "2"}).FreeSome(1));
}

}  // namespace
}  // namespace tally::set_test
