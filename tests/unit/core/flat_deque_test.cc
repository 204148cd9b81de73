#include "core/list/flat_deque.h"

#include <catch2/catch.hpp>
#include <deque>
#include <memory>

#include "tests/unit/random_seed.h"

namespace tally::flat_deque_test {
namespace {

TEST_CASE("A flat deque does what a deque does", "[flat_deque]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 20; ++round) {
    // Elements that own memory: one moved twice or not at all shows at once.
    FlatDeque<std::unique_ptr<int>> deque;
    std::deque<int> model;
    for (int step = 0; step < 1500; ++step) {
      const bool grow = random.Below(10) < (step < 900 ? 7U : 2U);
      const auto at = static_cast<std::ptrdiff_t>(random.Below(model.size() + 1));
      const uint64_t place = random.Below(3);
      if (grow && place == 0) {
        deque.PushBack(std::make_unique<int>(step));
        model.push_back(step);
      } else if (grow && place == 1) {
        deque.PushFront(std::make_unique<int>(step));
        model.push_front(step);
      } else if (grow) {
        deque.Insert(at, std::make_unique<int>(step));
        model.insert(model.begin() + at, step);
      } else if (!model.empty()) {
        const auto gone = place == 0 ? 0 : place == 1 ? model.size() - 1 : at % model.size();
        deque.Erase(gone);
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(gone));
      }
      REQUIRE(deque.size() == model.size());
      if (model.empty()) continue;
      REQUIRE(*deque.front() == model.front());
      REQUIRE(*deque.back() == model.back());
      if (step % 50 == 0) {
        for (size_t i = 0; i < model.size(); ++i) REQUIRE(*deque[i] == model[i]);
      }
    }
  }
}

TEST_CASE("An emptied flat deque holds no memory, a growing one little to spare", "[flat_deque]") {
  FlatDeque<uint64_t> deque;
  CHECK(deque.HeapUse() == 0);
  for (uint64_t i = 0; i < 1000; ++i) deque.PushBack(i);
  CHECK(deque.HeapUse() <= 1000 * sizeof(uint64_t) * 3 / 2);
  while (!deque.empty()) deque.Erase(0);
  CHECK(deque.HeapUse() <= 64);
}

}  // namespace
}  // namespace tally::flat_deque_test
