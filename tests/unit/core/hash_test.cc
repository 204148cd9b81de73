#include "core/hash/hash.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/number.h"
#include "random_seed.h"

namespace tally::hash_test {
namespace {

constexpr uint64_t kSeed = 0x5eed;
const HashLimits kLimits;
using Field = std::pair<std::string, std::string>;

std::vector<Field> FieldsOf(const Hash& hash) {
  std::vector<Field> fields;
  hash.ForEach(
      [&](std::string_view field, std::string_view value) { fields.emplace_back(field, value); });
  return fields;
}

std::optional<std::string> ValueOf(const Hash& hash, std::string_view field) {
  const auto value = hash.Find(field);
  if (!value) return std::nullopt;
  return std::string(value->text().view());
}

std::vector<std::string> RunsOf(const Hash& hash, size_t max_bytes) {
  std::vector<std::string> runs;
  uint64_t cursor = 0;
  do {
    cursor = hash.Save(cursor, max_bytes, runs.emplace_back());
  } while (cursor != 0);
  return runs;
}

Hash Filled(size_t fields) {
  Hash hash(kSeed);
  for (size_t i = 0; i < fields; ++i) {
    hash.Set("field:" + std::to_string(i), std::to_string(i), kLimits);
  }
  return hash;
}

// Keeps the order of insertion, as a small hash does.
class Model {
 public:
  bool Set(const std::string& field, const std::string& value) {
    if (std::string* old = Find(field)) {
      *old = value;
      return false;
    }
    fields_.emplace_back(field, value);
    return true;
  }
  bool Erase(const std::string& field) {
    return std::erase_if(fields_, [&](const Field& own) { return own.first == field; }) > 0;
  }
  std::string* Find(const std::string& field) {
    for (auto& [name, value] : fields_) {
      if (name == field) return &value;
    }
    return nullptr;
  }
  const std::vector<Field>& fields() const { return fields_; }

 private:
  std::vector<Field> fields_;
};

std::string RandomText(test::SeededRandom& random) {
  static const std::vector<std::string> kOdd = {"",
                                                "0",
                                                "01",
                                                "-0",
                                                "-1",
                                                "1.5",
                                                "9223372036854775807",
                                                "-9223372036854775808",
                                                "\xff",
                                                "\xf7\x05",
                                                std::string("\0a\0", 3),
                                                "00f1e2d3c4b5a69788796a5b4c3d2e1f"};
  switch (random.Below(8)) {
    case 0:
      return kOdd[random.Below(kOdd.size())];
    case 1:
      return std::string(random.Below(70), static_cast<char>(random.Below(256)));
    case 2:
      return std::string(random.Below(300), 'v');
    default:
      return std::to_string(random.Between(-200, 200));
  }
}

void CheckSame(const Hash& hash, Model& model, bool ordered) {
  std::vector<Field> fields = FieldsOf(hash);
  std::vector<Field> expected = model.fields();
  REQUIRE(hash.size() == expected.size());
  if (!ordered) {
    std::sort(fields.begin(), fields.end());
    std::sort(expected.begin(), expected.end());
  }
  REQUIRE(fields == expected);
}

void Step(Hash& hash, Model& model, test::SeededRandom& random, const HashLimits& limits) {
  const std::string field = RandomText(random);
  std::string* known = model.Find(field);
  switch (random.Below(6)) {
    case 0: {
      const bool erased = model.Erase(field);
      REQUIRE(hash.Erase(field) == erased);
      break;
    }
    case 1:
      REQUIRE(ValueOf(hash, field) == (known ? std::optional(*known) : std::nullopt));
      break;
    case 2: {
      const int64_t delta = random.OneIn(8) ? INT64_MAX : random.Between(-1000, 1000);
      const auto old = known ? ParseInt64(*known) : std::optional<int64_t>(0);
      const auto [status, value] = hash.Increment(field, delta, limits);
      int64_t sum = 0;
      if (!old) {
        REQUIRE(status == Hash::IncrementStatus::kNotInteger);
      } else if (__builtin_add_overflow(*old, delta, &sum)) {
        REQUIRE(status == Hash::IncrementStatus::kOverflow);
      } else {
        REQUIRE(status == Hash::IncrementStatus::kOk);
        REQUIRE(value == sum);
        model.Set(field, std::to_string(sum));
      }
      break;
    }
    default: {
      const std::string value = RandomText(random);
      const bool added = model.Set(field, value);
      REQUIRE(hash.Set(field, value, limits) == added);
    }
  }
}

TEST_CASE("hash: agrees with a model, small, growing and large") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const HashLimits limits :
       {HashLimits{}, HashLimits{512, 1000}, HashLimits{16, 64}, HashLimits{0, 0}}) {
    Hash hash(kSeed);
    Model model;
    for (int i = 0; i < 3000; ++i) {
      Step(hash, model, random, limits);
      if (i % 100 == 0) CheckSame(hash, model, hash.encoding() == "listpack");
    }
    CheckSame(hash, model, false);

    Model copied = model;
    const Hash copy = hash.Clone();
    CHECK(copy.encoding() == hash.encoding());
    for (int i = 0; i < 100; ++i) Step(hash, model, random, limits);
    CheckSame(copy, copied, false);
  }
}

TEST_CASE("hash: keeps the order of insertion while it is a listpack, also through updates") {
  Hash hash(kSeed);
  hash.Set("b", "1", kLimits);
  hash.Set("a", "2", kLimits);
  hash.Set("7", "3", kLimits);
  hash.Set("b", "a longer value", kLimits);
  CHECK(hash.Increment("a", 1000000, kLimits).value == 1000002);
  CHECK(FieldsOf(hash) ==
        std::vector<Field>{{"b", "a longer value"}, {"a", "1000002"}, {"7", "3"}});
  hash.Erase("b");
  hash.Set("b", "", kLimits);
  CHECK(FieldsOf(hash) == std::vector<Field>{{"a", "1000002"}, {"7", "3"}, {"b", ""}});
}

TEST_CASE("hash: encoding says when the limits were exceeded") {
  Hash hash = Filled(512);
  CHECK(hash.encoding() == "listpack");
  hash.Set("field:0", std::string(64, 'x'), kLimits);
  CHECK(hash.encoding() == "listpack");
  SECTION("by the number of fields") { hash.Set("one more", "", kLimits); }
  SECTION("by the number of fields, counting") { hash.Increment("one more", 1, kLimits); }
  SECTION("by a field") { hash.Set(std::string(65, 'x'), "", kLimits); }
  SECTION("by a value") { hash.Set("field:0", std::string(65, 'x'), kLimits); }
  CHECK(hash.encoding() == "hashtable");
  CHECK(ValueOf(hash, "field:511") == "511");
  hash.Erase("one more");
  CHECK(hash.encoding() == "hashtable");
}

TEST_CASE("hash: a few long values cost one allocation") {
  Hash hash(kSeed);
  size_t bytes = 0;
  for (int i = 0; i < 10; ++i) {
    hash.Set(std::to_string(1000000 + i), std::string(100, 'v'), kLimits);
    bytes += 100 + 4;
  }
  CHECK(hash.encoding() == "hashtable");
  CHECK(hash.MemoryBytes() < bytes + bytes / 4 + 80);
}

TEST_CASE("hash: integers are held as integers") {
  Hash hash(kSeed);
  hash.Set("n", "-123456", kLimits);
  CHECK(hash.Find("n")->integer() == -123456);
  hash.Set("n", "0123", kLimits);
  CHECK_FALSE(hash.Find("n")->integer());
  CHECK(ValueOf(hash, "n") == "0123");
}

TEST_CASE("hash: an id map costs little") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  constexpr size_t kFields = 50000;
  Hash hash(kSeed);
  for (size_t i = 0; i < kFields; ++i) {
    std::string id;
    for (int digit = 0; digit < 32; ++digit) id += "0123456789abcdef"[random.Below(16)];
    hash.Set(id, std::to_string(i), kLimits);
  }
  CHECK(hash.MemoryBytes() / kFields <= 40);
}

TEST_CASE("hash: a scan visits what stays exactly once, whatever else comes and goes") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Hash hash = Filled(3000);
  std::map<std::string, int> visits;
  uint64_t cursor = 0;
  int steps = 0;
  do {
    cursor = hash.Scan(cursor, 10, [&](std::string_view field, std::string_view) {
      ++visits[std::string(field)];
    });
    REQUIRE(cursor < (uint64_t{1} << 48));
    for (int i = 0; i < 20; ++i) {
      hash.Set("new:" + std::to_string(random.Below(20000)), "", kLimits);
      hash.Erase("new:" + std::to_string(random.Below(20000)));
    }
    ++steps;
  } while (cursor != 0);
  CHECK(steps > 200);
  for (int i = 0; i < 3000; ++i) REQUIRE(visits["field:" + std::to_string(i)] == 1);
}

TEST_CASE("hash: samples are distinct where asked for, and reach everything") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const size_t size : {5, 100, 2000}) {
    const Hash hash = Filled(size);
    for (const size_t count : {size_t{1}, size / 5, size - 1, size}) {
      std::set<std::string> seen;
      hash.SampleDistinct(
          count, [&] { return random.Next(); },
          [&](std::string_view field, std::string_view value) {
            REQUIRE(field == "field:" + std::string(value));
            seen.insert(std::string(field));
          });
      CHECK(seen.size() == count);
    }
    std::set<std::string> reached;
    for (size_t i = 0; i < size * 15; ++i) {
      hash.Sample(random.Next(),
                  [&](std::string_view field, std::string_view) { reached.emplace(field); });
    }
    // Uniform draws miss a share of e^-15 of all.
    CHECK(reached.size() >= size - size / 100);
  }
}

TEST_CASE("hash: samples drawn together are those drawn one by one") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const size_t size : {5, 100, 2000}) {
    const Hash hash = Filled(size);
    std::vector<uint64_t> numbers;
    std::vector<std::string> drawn;
    hash.SampleRepeated(
        5000, [&] { return numbers.emplace_back(random.Next()); },
        [&](std::string_view field, std::string_view value) {
          REQUIRE(field == "field:" + std::string(value));
          drawn.emplace_back(field);
        });
    std::vector<std::string> alone;
    for (const uint64_t number : numbers) {
      hash.Sample(number,
                  [&](std::string_view field, std::string_view) { alone.emplace_back(field); });
    }
    CHECK(drawn == alone);
  }
}

TEST_CASE("hash: saves in runs and loads them, in order while a listpack") {
  for (const size_t size : {1, 300, 5000}) {
    const Hash hash = Filled(size);
    const std::vector<std::string> runs = RunsOf(hash, 8000);
    CHECK((runs.size() > 1) == (size == 5000));
    Hash loaded(kSeed + 1);
    for (const std::string& run : runs) REQUIRE(loaded.Load(run));
    CHECK(loaded.encoding() == hash.encoding());
    std::vector<Field> fields = FieldsOf(loaded);
    std::vector<Field> expected = FieldsOf(hash);
    if (size == 5000) {
      std::sort(fields.begin(), fields.end());
      std::sort(expected.begin(), expected.end());
    }
    CHECK(fields == expected);
  }
}

TEST_CASE("hash: small ones are packed for their key's record") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Hash hash(kSeed);
  size_t packed = 0;
  for (int i = 0; i < 3000; ++i) {
    Hash source(kSeed);
    if (random.OneIn(2)) source.Set(std::string(65, 'x'), "", kLimits);
    source.Erase(std::string(65, 'x'));
    for (uint64_t f = random.Below(8); f > 0; --f) {
      source.Set(RandomText(random), RandomText(random), kLimits);
    }
    std::string bytes;
    if (!source.SavePacked(bytes)) continue;
    ++packed;
    REQUIRE(bytes.size() <= Hash::kMaxPackedBytes);
    REQUIRE(Hash::IsPacked(bytes) == !source.empty());
    REQUIRE(Hash::EncodingOfPacked(bytes) == source.encoding());
    REQUIRE(hash.LoadPacked(bytes));
    REQUIRE(hash.encoding() == source.encoding());
    REQUIRE(FieldsOf(hash) == FieldsOf(source));
    // What is loaded next replaces whatever this one has become.
    for (uint64_t f = random.Below(100); f > 0; --f) {
      hash.Set(RandomText(random), RandomText(random), kLimits);
    }
  }
  CHECK(packed > 1000);
  hash.Clear();
  CHECK(hash.empty());
  CHECK(hash.encoding() == "listpack");
  std::string large;
  CHECK_FALSE(Filled(100).SavePacked(large));
}

TEST_CASE("hash: packed bytes that were changed are refused, or are those of some hash") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  int accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    Hash source(kSeed);
    for (uint64_t f = 2 + random.Below(6); f > 0; --f) {
      source.Set(std::string(1, static_cast<char>('a' + random.Below(8))), "v", kLimits);
    }
    std::string bytes;
    REQUIRE(source.SavePacked(bytes));
    // A byte becomes as another one is.
    bytes[1 + random.Below(bytes.size() - 1)] = bytes[1 + random.Below(bytes.size() - 1)];
    if (!Hash::IsPacked(bytes)) continue;
    ++accepted;
    Hash hash(kSeed);
    REQUIRE(hash.LoadPacked(bytes));
    std::set<std::string> names;
    hash.ForEach([&](std::string_view field, std::string_view) { names.emplace(field); });
    REQUIRE(hash.size() == names.size());
  }
  CHECK(accepted > 1000);
}

TEST_CASE("hash: packed bytes that are malformed are refused") {
  std::string bytes;
  REQUIRE(Filled(3).SavePacked(bytes));
  for (size_t cut = 0; cut < bytes.size(); ++cut) {
    INFO(cut);
    const std::string_view part = std::string_view(bytes).substr(0, cut);
    CHECK((!Hash::IsPacked(part) || cut == 12 || cut == 23));  // after a value
    Hash hash(kSeed);
    if (!hash.LoadPacked(part)) CHECK(hash.empty());
  }
  using std::string_literals::operator""s;
  CHECK(Hash::IsPacked("l\1f\1v"s));
  CHECK(Hash::IsPacked("l\1f\1v\1g\1v"s));
  CHECK_FALSE(Hash::IsPacked("l\1f\1v\1f\1v"s));  // a field is there once
  CHECK_FALSE(Hash::IsPacked("l"s));
  CHECK_FALSE(Hash::IsPacked("x\1f\1v"s));
  CHECK_FALSE(Hash::IsPacked("l\1f"s));
  CHECK_FALSE(Hash::IsPacked("l\1f\1"s + "7"));  // an integer's code is another one
  CHECK_FALSE(Hash::IsPacked("l\1f\x02\xf8\1"s));
}

TEST_CASE("hash: malformed runs are refused") {
  std::string run;
  Filled(3).Save(0, 1000, run);
  size_t refused = 0;
  for (size_t cut = 0; cut < run.size(); ++cut) {
    refused += Hash(kSeed).Load(std::string_view(run).substr(0, cut)) ? 0 : 1;
  }
  // A cut between two fields leaves a run that is whole.
  CHECK(refused == run.size() - 3);
  CHECK_FALSE(Hash(kSeed).Load("x"));
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int i = 0; i < 2000; ++i) {
    std::string flipped = run;
    flipped[random.Below(run.size())] ^= static_cast<char>(1 << random.Below(8));
    Hash hash(kSeed);
    if (hash.Load(flipped)) REQUIRE(hash.size() <= 4);
  }
}

TEST_CASE("hash: is freed in slices") {
  Hash hash = Filled(20000);
  int slices = 1;
  while (!hash.FreeSome(1000)) ++slices;
  CHECK(slices > 5);
  CHECK(hash.size() == 0);
  CHECK(Filled(10).FreeSome(1));
}

}  // namespace
}  // namespace tally::hash_test
