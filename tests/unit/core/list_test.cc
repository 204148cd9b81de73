#include "core/list/list.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/random_seed.h"

namespace tally {
namespace {

using Model = std::deque<std::string>;

Model Contents(const List& list) {
  Model texts;
  list.ForEach(0, list.size(), [&](std::string_view text) {
    texts.emplace_back(text);
    return true;
  });
  return texts;
}

List ListOf(const std::vector<std::string>& texts) {
  List list;
  for (const std::string& text : texts) list.PushBack(text);
  return list;
}

void RequireSame(const List& list, const Model& model) {
  REQUIRE(list.size() == model.size());
  REQUIRE(list.empty() == model.empty());
  REQUIRE(Contents(list) == model);
}

// What LREM means, said plainly.
size_t RemoveFrom(Model& model, int64_t count, const std::string& text) {
  size_t removed = 0;
  const auto enough = [&] { return count != 0 && removed == static_cast<size_t>(std::abs(count)); };
  if (count >= 0) {
    for (size_t i = 0; i < model.size() && !enough();) {
      if (model[i] != text) {
        ++i;
        continue;
      }
      model.erase(model.begin() + static_cast<std::ptrdiff_t>(i));
      ++removed;
    }
    return removed;
  }
  for (size_t i = model.size(); i > 0 && !enough(); --i) {
    if (model[i - 1] != text) continue;
    model.erase(model.begin() + static_cast<std::ptrdiff_t>(i - 1));
    ++removed;
  }
  return removed;
}

// Texts of all lengths, with repetitions; integers only while `texts` is false.
std::string RandomText(test::SeededRandom& random, bool texts) {
  if (!texts || random.OneIn(4)) return std::to_string(random.Between(-3, 30));
  if (random.OneIn(200)) return std::string(random.Below(10'000), 'L');
  if (random.OneIn(20)) return std::string(120 + random.Below(20), 'm');
  return std::string(random.Below(40), static_cast<char>('a' + random.Below(3)));
}

size_t IndexIn(test::SeededRandom& random, const Model& model) {
  return random.Below(model.size());
}

void StepInside(test::SeededRandom& random, const std::string& text, List& list, Model& model) {
  const size_t at = IndexIn(random, model);
  const auto place = model.begin() + static_cast<std::ptrdiff_t>(at);
  const size_t to = at + random.Below(model.size() - at + 1);
  const auto end = model.begin() + static_cast<std::ptrdiff_t>(to);
  switch (random.Below(6)) {
    case 0:
      list.Set(at, text);
      *place = text;
      return;
    case 1:
    case 2:
      list.Insert(at, text);
      model.insert(place, text);
      return;
    case 3:
      list.Erase(at);
      model.erase(place);
      return;
    case 4: {
      const auto found = std::find(place, end, text);
      const auto index = static_cast<size_t>(found - model.begin());
      REQUIRE(list.Find(text, at, to) == (found == end ? std::nullopt : std::optional(index)));
      size_t last = to;
      while (last > at && model[last - 1] != text) --last;
      REQUIRE(list.FindLast(text, at, to) == (last == at ? std::nullopt : std::optional(last - 1)));
      return;
    }
    default:
      REQUIRE(list.At(at) == *place);
      Model range;
      list.ForEach(at, to, [&](std::string_view value) {
        range.emplace_back(value);
        return true;
      });
      REQUIRE(range == Model(place, end));
  }
}

void Step(test::SeededRandom& random, bool texts, uint64_t growth, List& list, Model& model) {
  const std::string text = RandomText(random, texts);
  const bool front = random.OneIn(2);
  if (model.empty() || (!random.OneIn(3) && random.Below(10) < growth)) {
    front ? list.PushFront(text) : list.PushBack(text);
    front ? model.push_front(text) : model.push_back(text);
  } else if (random.OneIn(2)) {
    if (front) {
      REQUIRE(list.PopFront() == model.front());
      model.pop_front();
    } else {
      REQUIRE(list.PopBack() == model.back());
      model.pop_back();
    }
  } else if (random.OneIn(100)) {
    const int64_t count = random.OneIn(4) ? 0 : random.Between(-40, 40);
    REQUIRE(list.RemoveMatching(count, text) == RemoveFrom(model, count, text));
  } else {
    StepInside(random, text, list, model);
  }
}

TEST_CASE("A list does what a deque does, of integers and of texts", "[list]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 24; ++round) {
    List list;
    Model model;
    for (int step = 0; step < 2000; ++step) {
      Step(random, round % 2 == 1, step < 1500 ? 8 : 2, list, model);
      if (step % 101 == 0) RequireSame(list, model);
    }
    RequireSame(list, model);
    RequireSame(list.Clone(), model);
    while (!model.empty()) {
      const size_t from = random.Below(model.size()) / 3;
      const size_t to = model.size() - random.Below(model.size() - from) / 3;
      list.Trim(from, to);
      model.resize(to);
      model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(from));
      RequireSame(list, model);
      if (model.size() < 10) {
        list.Trim(0, 0);
        model.clear();
      }
    }
    REQUIRE(list.encoding() == "intring");
    REQUIRE(list.MemoryBytes() == 0);
  }
}

TEST_CASE("Elements come back as they went in", "[list]") {
  const std::vector<std::string> texts = {"1",
                                          "-7",
                                          "007",
                                          "+1",
                                          "-0",
                                          "",
                                          " 1",
                                          "9223372036854775807",
                                          "9223372036854775808",
                                          "-9223372036854775808",
                                          std::string("\0\xff\r\n", 4),
                                          std::string(70'000, 'x')};
  for (size_t first = 0; first < texts.size(); ++first) {
    List list = ListOf({texts[first], "5"});
    for (const std::string& text : texts) list.PushFront(text);
    REQUIRE(list.At(texts.size()) == texts[first]);
    for (size_t i = 0; i < texts.size(); ++i) REQUIRE(list.At(i) == texts[texts.size() - 1 - i]);
  }
}

TEST_CASE("The encoding tells how elements are held", "[list]") {
  List list;
  for (int i = 0; i < 40; ++i) list.PushBack(std::to_string(i));
  CHECK(list.encoding() == "intring");
  list.PushBack("007");
  CHECK(list.encoding() == "quicklist");
  CHECK(list.At(40) == "007");
  CHECK(list.At(39) == "39");
  list.Erase(40);
  CHECK(list.encoding() == "quicklist");
  while (!list.empty()) list.PopBack();
  list.PushBack("7");
  CHECK(list.encoding() == "intring");
}

TEST_CASE("Removal counts from the end that its sign tells", "[list]") {
  for (const std::string& other : {std::string("5"), std::string("x")}) {
    List list = ListOf({"1", other, "1", "2", "1"});
    CHECK(list.RemoveMatching(-2, "1") == 2);
    CHECK(Contents(list) == Model{"1", other, "2"});
    CHECK(list.RemoveMatching(std::numeric_limits<int64_t>::min(), "1") == 1);
    CHECK(list.RemoveMatching(std::numeric_limits<int64_t>::max(), "2") == 1);
    CHECK(list.RemoveMatching(0, "nothing like it") == 0);
    CHECK(list.RemoveMatching(1, "01") == 0);
    CHECK(list.RemoveMatching(0, other) == 1);
    CHECK(list.empty());
  }
}

TEST_CASE("A list is saved in runs of any size and loads the same", "[list]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (const bool texts : {false, true}) {
    List list;
    for (int i = 0; i < 700; ++i) list.PushBack(RandomText(random, texts));
    if (!texts) {
      list.PushBack("9223372036854775807");
      list.PushBack("-9223372036854775808");
    }
    for (const size_t max_bytes : {size_t{1}, size_t{100}, size_t{1} << 20}) {
      List loaded;
      for (size_t at = 0; at < list.size();) {
        std::string run = "kept";
        const size_t next = list.Save(at, max_bytes, run);
        REQUIRE(next > at);
        REQUIRE(run.substr(0, 4) == "kept");
        REQUIRE(loaded.Load(std::string_view(run).substr(4)));
        REQUIRE(loaded.size() == next);
        at = next;
      }
      RequireSame(loaded, Contents(list));
      CHECK(loaded.encoding() == list.encoding());
    }
  }
}

TEST_CASE("Malformed runs are refused", "[list]") {
  for (const std::string& run :
       {std::string(), std::string("i"), std::string("s"), std::string("q1"), std::string("i\x80"),
        std::string("s\x05word"), "s" + std::string(9, '\xff') + '\x01',
        'i' + std::string(11, '\xff')}) {
    List list = ListOf({"1"});
    CHECK_FALSE(list.Load(run));
  }
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 3000; ++round) {
    List list = ListOf({"1", "2"});
    std::string run;
    if (random.OneIn(2)) list.PushBack("word");
    list.Save(0, 1000, run);
    run[random.Below(run.size())] = static_cast<char>(random.Next());
    run.resize(random.Below(run.size() + 1));
    List loaded;
    if (!loaded.Load(run)) continue;
    // What was taken is a list like any other.
    REQUIRE(Contents(loaded).size() == loaded.size());
  }
}

TEST_CASE("A long list is freed in slices", "[list]") {
  for (const bool texts : {false, true}) {
    List list;
    for (int i = 0; i < 50'000; ++i)
      list.PushBack(texts ? "n" + std::to_string(i) : std::to_string(i));
    size_t before = list.size();
    int slices = 1;
    for (; !list.FreeSome(5000); ++slices) {
      REQUIRE(list.size() < before);
      REQUIRE(before - list.size() < 7000);
      before = list.size();
    }
    CHECK(slices >= 7);
    CHECK(list.empty());
    CHECK(list.MemoryBytes() == 0);
  }
}

TEST_CASE("Lists are small", "[list]") {
  CHECK(sizeof(List) == 8);
  List ten;
  for (int i = 0; i < 10; ++i) ten.PushBack(std::to_string(1'700'000'000 + i * 8640));
  CHECK(ten.MemoryBytes() <= 32);
  List words;
  for (int i = 0; i < 10'000; ++i) words.PushBack("event:" + std::to_string(100'000 + i));
  // 12 bytes of text and two lengths.
  CHECK(static_cast<double>(words.MemoryBytes()) / 10'000 <= 15);
  while (words.size() > 10) words.PopFront();
  CHECK(words.MemoryBytes() <= 1000);
}

TEST_CASE("Moving leaves an empty list behind", "[list]") {
  for (const std::string& text : {std::string("1"), std::string("one")}) {
    List list = ListOf({text, text});
    List moved = std::move(list);
    CHECK(moved.size() == 2);
    list = List();
    CHECK(list.empty());
    list.PushBack("2");
    list = std::move(moved);
    CHECK(list.At(1) == text);
  }
}

}  // namespace
}  // namespace tally
