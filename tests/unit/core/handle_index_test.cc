#include "core/table/handle_index.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <vector>

#include "random_seed.h"

namespace tally::handle_index_test {
namespace {

// Records that are their own names; hashes are assigned by the test.
struct FakeRecords {
  struct Key {
    uint32_t handle;
    uint64_t hash;
  };

  uint64_t Hash(uint32_t handle) const { return hashes.at(handle); }
  bool Matches(uint32_t handle, const Key& key) const { return handle == key.handle; }

  std::vector<uint64_t> hashes;
};

std::multiset<uint32_t> ScanAll(const HandleIndex<FakeRecords>& index, size_t count) {
  std::multiset<uint32_t> seen;
  uint64_t cursor = 0;
  do {
    cursor = index.Scan(cursor, count, [&](uint32_t handle) { seen.insert(handle); });
    REQUIRE(cursor < uint64_t{1} << 48);
  } while (cursor != 0);
  return seen;
}

TEST_CASE("the handle index finds what is in it, through growth and shrinking") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  constexpr uint32_t kHandles = 20000;
  FakeRecords records;
  for (uint32_t i = 0; i <= kHandles; ++i) records.hashes.push_back(random.Next());
  HandleIndex<FakeRecords> index(records);
  std::set<uint32_t> model;
  const auto toggle = [&](uint32_t handle) {
    if (model.erase(handle) > 0) {
      index.Erase(handle);
    } else {
      model.insert(handle);
      index.Insert(handle, records.hashes[handle]);
    }
  };
  const auto check = [&] {
    REQUIRE(index.size() == model.size());
    for (uint32_t handle = 1; handle <= kHandles; ++handle) {
      REQUIRE(index.Find({handle, records.hashes[handle]}) ==
              (model.contains(handle) ? handle : 0));
    }
    REQUIRE(ScanAll(index, 100) == std::multiset<uint32_t>(model.begin(), model.end()));
  };
  for (uint32_t handle = 1; handle <= kHandles; ++handle) toggle(handle);
  check();
  const size_t full_bytes = index.MemoryBytes();
  CHECK(full_bytes < kHandles * 16);
  for (int i = 0; i < 30000; ++i) toggle(1 + static_cast<uint32_t>(random.Below(kHandles)));
  check();
  for (uint32_t handle = 1; handle <= kHandles; ++handle) {
    if (model.contains(handle) && handle % 100 != 0) toggle(handle);
  }
  check();
  CHECK(index.MemoryBytes() < full_bytes / 4);
}

TEST_CASE("handles whose hashes agree stay together and do not blow up the directory") {
  FakeRecords records;
  records.hashes.assign(3001, 0xabcdef0123456789);
  records.hashes[0] = 0;
  HandleIndex<FakeRecords> index(records);
  for (uint32_t handle = 1; handle <= 3000; ++handle) index.Insert(handle, records.hashes[handle]);
  CHECK(index.MemoryBytes() < 3000 * 32);
  CHECK(ScanAll(index, 10).size() == 3000);
  for (uint32_t handle = 1; handle <= 3000; ++handle) index.Erase(handle);
  CHECK(ScanAll(index, 10).empty());
}

TEST_CASE("a scan of the handle index visits what stays exactly once under any change") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  constexpr uint32_t kStaying = 3000;
  constexpr uint32_t kPassing = 30000;
  FakeRecords records;
  for (uint32_t i = 0; i <= kStaying + kPassing; ++i) records.hashes.push_back(random.Next());
  // A few hashes with one prefix, and the ends of the range.
  for (uint32_t i = 1; i <= 20; ++i) records.hashes[i] = 0x123456789abc0000 + i;
  records.hashes[21] = 0;
  records.hashes[22] = UINT64_MAX;
  HandleIndex<FakeRecords> index(records);
  for (uint32_t handle = 1; handle <= kStaying; ++handle) {
    index.Insert(handle, records.hashes[handle]);
  }
  std::map<uint32_t, int> visits;
  std::set<uint32_t> passing;
  uint64_t cursor = 0;
  bool growing = true;
  do {
    cursor = index.Scan(cursor, 10, [&](uint32_t handle) { ++visits[handle]; });
    for (int i = 0; i < 300; ++i) {
      if (growing) {
        const uint32_t handle = kStaying + 1 + static_cast<uint32_t>(random.Below(kPassing));
        if (passing.insert(handle).second) index.Insert(handle, records.hashes[handle]);
      } else if (!passing.empty()) {
        index.Erase(*passing.begin());
        passing.erase(passing.begin());
      }
    }
    if (passing.empty()) growing = true;
    if (passing.size() > kPassing / 2) growing = false;
  } while (cursor != 0);
  for (uint32_t handle = 1; handle <= kStaying; ++handle) REQUIRE(visits[handle] == 1);
  for (const auto& [handle, count] : visits) REQUIRE(count <= 2);
}

}  // namespace
}  // namespace tally::handle_index_test
