#include "core/hyperloglog/hyperloglog.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <string_view>

#include "core/bytes/text.h"
#include "core/hyperloglog/hyperloglog_sparse.h"
#include "core/hyperloglog/murmur_hash.h"
#include "random_seed.h"

namespace tally::hyperloglog::hyperloglog_test {
namespace {

constexpr size_t kMaxSparse = 3000;

std::string_view Runs(std::string_view bytes) { return bytes.substr(kHeaderBytes); }

void AddAll(Text& bytes, std::string_view prefix, int count) {
  for (int i = 0; i < count; ++i) {
    REQUIRE(Add(bytes, std::string(prefix) + std::to_string(i), kMaxSparse) != Change::kMalformed);
  }
}

}  // namespace

TEST_CASE("The hash is MurmurHash64A", "[hyperloglog]") {
  CHECK(MurmurHash64A("", 0) == 0);
  CHECK(MurmurHash64A("", 0xadc83b19) == 0xd8dfea6585bc9732);
  CHECK(MurmurHash64A("a", 0xadc83b19) == 0x53d2470a9b43b1a7);
  CHECK(MurmurHash64A("12345678", 0xadc83b19) == 0x95ebb86389132953);
  CHECK(MurmurHash64A("The quick brown fox", 0xadc83b19) == 0xb8cb2a48ba03f3e4);
}

TEST_CASE("Strings of Redis 7.0 are read and made byte for byte", "[hyperloglog]") {
  Text bytes(Empty());
  CHECK(Add(bytes, "a", kMaxSparse) == Change::kChanged);
  CHECK(Add(bytes, "b", kMaxSparse) == Change::kChanged);
  CHECK(Add(bytes, "a", kMaxSparse) == Change::kNone);
  CHECK(Runs(bytes) ==
        "q\xa6\x84K\xfb\x80"
        "BZ");
  CHECK(Estimate(bytes) == 2);
}

TEST_CASE("A sparse and a dense one of the same elements have the same registers",
          "[hyperloglog]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Text sparse(Empty());
  Text dense(Empty());
  REQUIRE(MakeDense(dense));
  Registers model{};
  for (int i = 0; i < 3000; ++i) {
    const size_t index = random.Below(4) == 0 ? random.Below(20) : random.Below(kRegisters);
    const auto value = static_cast<uint8_t>(1 + random.Below(6));
    const Change expected = model[index] < value ? Change::kChanged : Change::kNone;
    model[index] = std::max(model[index], value);
    REQUIRE(RaiseRegister(sparse, index, value, kDenseBytes) == expected);
    REQUIRE(RaiseRegister(dense, index, value, 0) == expected);
  }
  CHECK_FALSE(IsDense(sparse));
  for (const Text* bytes : {&sparse, &dense}) {
    CHECK(LooksValid(*bytes));
    Registers registers{};
    REQUIRE(MergeInto(*bytes, registers));
    CHECK(registers == model);
    CHECK(Estimate(*bytes) == Estimate(model));
  }
  REQUIRE(MakeDense(sparse));
  CHECK(sparse.view() == dense.view());
}

TEST_CASE("A sparse one becomes dense at its limit or for a large value", "[hyperloglog]") {
  Text bytes(Empty());
  AddAll(bytes, "x", 100);
  CHECK_FALSE(IsDense(bytes));
  const size_t limit = bytes.size();
  Text other = bytes.Clone();
  for (int i = 0; !IsDense(bytes); ++i) {
    REQUIRE(bytes.size() <= limit);
    REQUIRE(Add(bytes, "y" + std::to_string(i), limit) != Change::kMalformed);
  }
  CHECK(bytes.size() == kDenseBytes);
  CHECK(RaiseRegister(other, 5, kMaxSparseValue, kMaxSparse) == Change::kChanged);
  CHECK_FALSE(IsDense(other));
  CHECK(RaiseRegister(other, 5, kMaxSparseValue + 1, kMaxSparse) == Change::kChanged);
  CHECK(IsDense(other));
}

TEST_CASE("The estimate is within the error bound", "[hyperloglog]") {
  Text bytes(Empty());
  int added = 0;
  for (const int count : {0, 1, 10, 100, 1000, 10'000, 100'000, 300'000}) {
    for (; added < count; ++added) {
      REQUIRE(Add(bytes, "user:" + std::to_string(added), kMaxSparse) != Change::kMalformed);
    }
    const auto estimate = static_cast<double>(*Estimate(bytes));
    // Four standard errors.
    CHECK(std::abs(estimate - count) <= 4 * 0.0081 * count);
  }
}

TEST_CASE("Merging gives what counting all elements in one gives", "[hyperloglog]") {
  Text first(Empty());
  Text second(Empty());
  Text both(Empty());
  AddAll(first, "a", 500);
  AddAll(second, "b", 5000);
  AddAll(both, "a", 500);
  AddAll(both, "b", 5000);
  CHECK_FALSE(IsDense(first));
  CHECK(IsDense(second));
  Registers registers{};
  REQUIRE(MergeInto(first, registers));
  REQUIRE(MergeInto(second, registers));
  CHECK(Estimate(registers) == Estimate(both));
}

TEST_CASE("The cached estimate is forgotten and kept", "[hyperloglog]") {
  Text bytes(Empty());
  CHECK(CachedEstimate(bytes) == 0);
  ForgetEstimate(bytes);
  CHECK_FALSE(CachedEstimate(bytes));
  CacheEstimate(bytes, 0x123456789abc);
  CHECK(CachedEstimate(bytes) == 0x123456789abc);
}

TEST_CASE("Malformed strings are told, and harmless", "[hyperloglog]") {
  const std::string header = Empty().substr(0, kHeaderBytes);
  for (const std::string& runs : {std::string(), std::string("\x80"), std::string("\x7f"),
                                  std::string("\x7f\xff\x80"), std::string("\x7f\xff\x00", 3)}) {
    Text bytes(header + runs);
    CAPTURE(runs.size());
    CHECK(LooksValid(bytes));
    CHECK_FALSE(Estimate(bytes));
    CHECK_FALSE(MakeDense(bytes));
    Registers registers{};
    CHECK_FALSE(MergeInto(bytes, registers));
  }
  Text cut(header + "\x80");
  CHECK(RaiseRegister(cut, 9, 1, kMaxSparse) == Change::kMalformed);
  CHECK_FALSE(LooksValid("HYLL"));
  CHECK_FALSE(LooksValid("HYLK" + header.substr(4)));
  std::string unknown = header;
  unknown[4] = 2;
  CHECK_FALSE(LooksValid(unknown));
  unknown[4] = 0;
  CHECK_FALSE(LooksValid(unknown));
  // Registers that no hash gives.
  std::string made_up(kDenseBytes, '\xff');
  made_up.replace(0, 5, std::string("HYLL\0", 5));
  CHECK(LooksValid(made_up));
  CHECK(Estimate(made_up) == 0);
}

TEST_CASE("Random bytes after a header never do harm", "[hyperloglog]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  const std::string header = Empty().substr(0, kHeaderBytes);
  for (int round = 0; round < 300; ++round) {
    Text bytes(header);
    for (size_t i = random.Below(60); i > 0; --i) {
      const char byte = static_cast<char>(random.Below(256));
      bytes.Append({&byte, 1});
    }
    for (int i = 0; i < 20; ++i) {
      const auto value = static_cast<uint8_t>(1 + random.Below(51));
      if (RaiseRegister(bytes, random.Below(kRegisters), value, kMaxSparse) == Change::kMalformed) {
        break;
      }
    }
    Registers registers{};
    REQUIRE(MergeInto(bytes, registers) == Estimate(bytes).has_value());
  }
}

}  // namespace tally::hyperloglog::hyperloglog_test
