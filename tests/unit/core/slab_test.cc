#include "core/mem/slab.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

#include "random_seed.h"

namespace tally::slab_test {
namespace {

Slab::Handle Add(Slab& slab, const std::string& bytes) {
  const Slab::Handle handle = slab.Allocate(bytes.size());
  REQUIRE(handle != Slab::kNull);
  std::memcpy(slab.At(handle), bytes.data(), bytes.size());
  return handle;
}

TEST_CASE("slab records keep their bytes through any mix of allocations and frees") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Slab slab;
  std::unordered_map<Slab::Handle, std::string> model;
  std::vector<Slab::Handle> handles;
  for (int step = 0; step < 60000; ++step) {
    const bool growing = step < 30000;
    if (handles.empty() || random.OneIn(3) != growing) {
      const std::string bytes(1 + random.Below(random.OneIn(2) ? 16 : Slab::kMaxRecordBytes),
                              static_cast<char>(random.Next()));
      const Slab::Handle handle = Add(slab, bytes);
      REQUIRE(model.emplace(handle, bytes).second);
      handles.push_back(handle);
    } else {
      std::swap(handles[random.Below(handles.size())], handles.back());
      const std::string& bytes = model.at(handles.back());
      REQUIRE(std::memcmp(slab.At(handles.back()), bytes.data(), bytes.size()) == 0);
      slab.Free(handles.back());
      model.erase(handles.back());
      handles.pop_back();
    }
  }
  for (const auto& [handle, bytes] : model) {
    REQUIRE(std::memcmp(slab.At(handle), bytes.data(), bytes.size()) == 0);
  }
}

TEST_CASE("a slab gives wholly free pages back and uses their handles again") {
  Slab slab;
  std::vector<Slab::Handle> handles;
  for (int i = 0; i < 10000; ++i) handles.push_back(slab.Allocate(44));
  const size_t full = slab.MemoryBytes();
  CHECK(full < 10000 * 46);
  for (const Slab::Handle handle : handles) slab.Free(handle);
  const size_t directory = slab.MemoryBytes();
  CHECK(directory < 4096);
  for (int i = 0; i < 10000; ++i) REQUIRE(slab.Allocate(44) != Slab::kNull);
  CHECK(slab.MemoryBytes() <= full + directory);
}

TEST_CASE("a slab of a few records does not pay for whole pages") {
  Slab slab;
  for (size_t bytes = 12; bytes <= 72; bytes += 4) {
    REQUIRE(slab.Allocate(bytes) != Slab::kNull);
  }
  CHECK(slab.MemoryBytes() < 8192);
}

}  // namespace
}  // namespace tally::slab_test
