// Large elements that replies hold keep their bytes, whatever becomes of the values.
#include "core/bytes/counted_block.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/bytes/byte_blocks.h"
#include "core/hash/hash.h"
#include "core/list/list.h"
#include "core/set/set.h"
#include "core/zset/zset.h"
#include "random_seed.h"
#include "scale.h"

namespace tally::counted_block_test {
namespace {

using test::SeededRandom;

// An output that holds an element, and what it must be.
struct Held {
  ByteBlocks output;
  std::string expected;
};

// A value of a few large elements and many small ones that changes at random.
class Changing {
 public:
  using Visitor = std::function<void(const ElementView&)>;

  virtual ~Changing() = default;
  virtual void Add(const std::string& element) = 0;
  virtual void Remove(const std::string& element) = 0;
  virtual void Visit(const Visitor& visit) const = 0;
};

class ChangingHash final : public Changing {
 public:
  // Few fields, so that their values are often replaced, by some of the same size.
  void Add(const std::string& element) override {
    hash_.Set(element.substr(0, 1), element, HashLimits());
    hash_.Set(std::to_string(element.size()), "1", HashLimits());
    hash_.Increment(std::to_string(element.size()), 1, HashLimits());
  }
  void Remove(const std::string& element) override { hash_.Erase(element.substr(0, 1)); }
  void Visit(const Visitor& visit) const override {
    hash_.ForEach([&](const ElementView&, const ElementView& value) { visit(value); });
  }

 private:
  Hash hash_{7};
};

class ChangingSet final : public Changing {
 public:
  void Add(const std::string& element) override { set_.Insert(element, SetLimits()); }
  void Remove(const std::string& element) override { set_.Erase(element); }
  void Visit(const Visitor& visit) const override {
    set_.ForEach([&](const ElementView& member) {
      visit(member);
      return true;
    });
  }

 private:
  Set set_{7};
};

class ChangingZSet final : public Changing {
 public:
  void Add(const std::string& element) override {
    set_.Set(element, static_cast<double>(element.size()), ZSetLimits());
  }
  void Remove(const std::string& element) override { set_.Erase(element); }
  void Visit(const Visitor& visit) const override {
    set_.ForEach({0, set_.size()}, false, [&](const ElementView& member, double) {
      visit(member);
      return true;
    });
  }

 private:
  ZSet set_{7};
};

class ChangingList final : public Changing {
 public:
  void Add(const std::string& element) override {
    const size_t size = list_.size();
    if (size > 0 && element.size() % 3 == 0) {
      list_.Set(element.size() % size, element);
    } else if (element.size() % 3 == 1) {
      list_.PushFront(element);
    } else {
      list_.Insert(size / 2, element);
    }
  }
  void Remove(const std::string& element) override {
    if (element.size() % 2 == 0) {
      list_.RemoveMatching(1, element);
    } else if (!list_.empty()) {
      list_.Erase(element.size() % list_.size());
    }
  }
  void Visit(const Visitor& visit) const override {
    list_.ForEach(0, list_.size(), [&](const ElementView& element) {
      visit(element);
      return true;
    });
  }

 private:
  List list_;
};

std::string RandomElement(SeededRandom& random) {
  const size_t size = random.OneIn(3) ? 60'000 + random.Below(400'000) : random.Below(60);
  return std::string(
      size, static_cast<char>(random.OneIn(9) ? 0xF4 + random.Below(12) : 'a' + random.Below(20)));
}

// Returns how many elements were held in the memory of the value.
size_t ChangeAndHold(SeededRandom& random, std::unique_ptr<Changing> value) {
  std::vector<Held> held;
  std::vector<std::string> added;
  size_t shared = 0;
  for (int step = 0; step < 300; ++step) {
    if (!random.OneIn(4) || added.empty()) {
      added.push_back(RandomElement(random));
      value->Add(added.back());
    } else {
      const size_t at = random.Below(added.size());
      value->Remove(added[at]);
      added.erase(added.begin() + static_cast<ptrdiff_t>(at));
    }
    value->Visit([&](const ElementView& element) {
      if (!element.shareable() || !random.OneIn(6)) return;
      Held& one = held.emplace_back();
      one.expected = element;
      one.output.Append(SharedBytes(element));
      std::string_view piece;
      REQUIRE(one.output.Front({&piece, 1}) == 1);
      REQUIRE(piece.data() == element.data());
      ++shared;
    });
    // Outputs are sent at some time.
    while (held.size() > 12) held.erase(held.begin() + static_cast<ptrdiff_t>(random.Below(12)));
    for (const Held& one : held) REQUIRE(one.output.Joined() == one.expected);
  }
  value = nullptr;
  for (const Held& one : held) REQUIRE(one.output.Joined() == one.expected);
  return shared;
}

TEST_CASE("an element that is held keeps its bytes while its value changes and goes") {
  SeededRandom random;
  INFO("seed " << random.seed());
  for (size_t round = 0; round < test::Scaled(1); ++round) {
    CHECK(ChangeAndHold(random, std::make_unique<ChangingHash>()) > 0);
    CHECK(ChangeAndHold(random, std::make_unique<ChangingSet>()) > 0);
    CHECK(ChangeAndHold(random, std::make_unique<ChangingZSet>()) > 0);
    CHECK(ChangeAndHold(random, std::make_unique<ChangingList>()) > 0);
  }
}

TEST_CASE("a block is freed with its last owner, and short elements are in no counted block") {
  ElementBlock block(ElementView::kShareable);
  REQUIRE(block.block() == block.get());
  REQUIRE_FALSE(block.is_shared());
  std::fill_n(block.get(), ElementView::kShareable, 'x');
  ByteBlocks output;
  {
    const SharedBytes bytes(ElementView({block.get(), ElementView::kShareable}, block.block()));
    output.Append(bytes);
    REQUIRE(block.is_shared());
  }
  block = ElementBlock();
  REQUIRE(output.Joined() == std::string(ElementView::kShareable, 'x'));
  output.Clear();

  ElementBlock small(ElementView::kShareable - 1);
  REQUIRE(small.block() == nullptr);
  REQUIRE_FALSE(small.is_shared());
  ElementBlock back = ElementBlock::Adopt(small.Release());
  REQUIRE(small.get() == nullptr);
  REQUIRE(back.get() != nullptr);
  REQUIRE_FALSE(ElementView(std::string_view("x"), back.get()).shareable());
}

}  // namespace
}  // namespace tally::counted_block_test
