#include "core/list/list.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/bytes/number.h"
#include "tests/unit/random_seed.h"

namespace tally::list_test {
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

// Adds the text, if it is an integer now and then as the first of some numbers.
void PushBack(test::SeededRandom& random, List& list, Model& model, const std::string& text) {
  const std::optional<int64_t> number = ParseInt64(text);
  if (!number || !random.OneIn(8)) {
    list.PushBack(text);
    model.push_back(text);
    return;
  }
  std::vector<int64_t> numbers = {*number};
  while (!random.OneIn(8)) numbers.push_back(numbers.back() / 2 + random.Between(-9, 9));
  list.PushBack(numbers);
  for (const int64_t added : numbers) model.push_back(std::to_string(added));
}

void Step(test::SeededRandom& random, bool texts, uint64_t growth, List& list, Model& model) {
  const std::string text = RandomText(random, texts);
  const bool front = random.OneIn(2);
  if (model.empty() || (!random.OneIn(3) && random.Below(10) < growth)) {
    if (!front) return PushBack(random, list, model, text);
    list.PushFront(text);
    model.push_front(text);
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
    // Of every third list the first thousand elements are integers.
    const int texts_from = round % 3 == 0 ? 2000 : round % 3 == 1 ? 0 : 1000;
    for (int step = 0; step < 2000; ++step) {
      Step(random, step >= texts_from, step < 1500 ? 8 : 2, list, model);
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

TEST_CASE("A list of integers stays as small when a text joins it, wherever", "[list]") {
  for (const size_t at : {size_t{0}, size_t{5000}, size_t{10'000}}) {
    List list;
    Model model;
    for (int64_t i = 0; i < 10'000; ++i) {
      model.push_back(std::to_string(1'700'000'000 + i * 7));
      list.PushBack(model.back());
    }
    const size_t before = list.MemoryBytes();
    list.Insert(at, "text");
    model.insert(model.begin() + static_cast<std::ptrdiff_t>(at), "text");
    CHECK(list.encoding() == "quicklist");
    CHECK(list.MemoryBytes() < before + 8000);
    RequireSame(list, model);
    RequireSame(list.Clone(), model);
    CHECK(list.Find("text", 0, list.size()) == at);
    CHECK(list.Find("1700000007", 0, list.size()) == (at == 0 ? 2 : 1));
    CHECK(list.FindLast("1700000007", 0, list.size()) == (at == 0 ? 2 : 1));
    CHECK_FALSE(list.Find("01700000007", 0, list.size()));
    list.Set(7000, "7000");
    model[7000] = "7000";
    list.PushFront("1");
    model.emplace_front("1");
    list.PushBack("2");
    model.emplace_back("2");
    RequireSame(list, model);
    Model backwards;
    list.ForEachBackwards(3, list.size() - 2, [&](std::string_view text) {
      backwards.emplace_front(text);
      return true;
    });
    CHECK(backwards == Model(model.begin() + 3, model.end() - 2));
  }
}

TEST_CASE("Of many equal elements those go that are asked for", "[list]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 60; ++round) {
    List list;
    Model model;
    const size_t size = random.Below(4000);
    const uint64_t kinds = 1 + random.Below(5);
    for (size_t i = 0; i < size; ++i) {
      model.push_back(std::to_string(random.Below(kinds)));
      list.PushBack(model.back());
    }
    if (round % 2 == 0) {
      list.Insert(size / 2, "a text");
      model.insert(model.begin() + static_cast<std::ptrdiff_t>(size / 2), "a text");
    }
    if (round % 4 == 0) {
      // All of it texts, as it is after a restart.
      std::string run;
      list.Save(0, SIZE_MAX, run);
      list = List();
      REQUIRE(list.Load(run));
    }
    while (!model.empty() && !random.OneIn(6)) {
      const std::string text = random.OneIn(9) ? "a text" : std::to_string(random.Below(kinds));
      const auto most = static_cast<int64_t>(model.size());
      const int64_t count = random.OneIn(4) ? 0 : random.Between(-most, most);
      REQUIRE(list.RemoveMatching(count, text) == RemoveFrom(model, count, text));
      RequireSame(list, model);
      // Its blocks know where they begin.
      for (int i = 0; i < 20 && !model.empty(); ++i) {
        const size_t at = IndexIn(random, model);
        REQUIRE(list.At(at) == model[at]);
      }
      if (random.OneIn(3)) {
        list.PushFront("0");
        model.emplace_front("0");
      }
    }
  }
}

TEST_CASE("A snapshot has what a list held when it began, whatever becomes of the list", "[list]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 20; ++round) {
    List list;
    Model model;
    const size_t size = 1 + random.Below(12'000);
    for (size_t i = 0; i < size; ++i) {
      const bool small = random.OneIn(20);
      model.push_back(round % 2 == 0 || small ? RandomText(random, round % 2 == 0)
                                              : std::to_string(1'700'000'000'000'000'000 + i));
      list.PushBack(model.back());
    }
    list.PushBack("a text");
    model.emplace_back("a text");
    const Model begun = model;
    List saved;
    bool right = true;
    REQUIRE(list.BeginSnapshot([&](std::string_view run) { right &= saved.Load(run); }));
    while (list.SaveSnapshot()) {
      for (int step = 0; step < 20 && !model.empty(); ++step) Step(random, true, 4, list, model);
      if (random.OneIn(3)) {
        const std::string text = std::to_string(random.Between(-3, 30));
        REQUIRE(list.RemoveMatching(0, text) == std::erase(model, text));
      }
    }
    RequireSame(list, model);
    list.EndSnapshot();
    REQUIRE(right);
    RequireSame(saved, begun);
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

TEST_CASE("The encoding says how elements are held", "[list]") {
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

TEST_CASE("Removal counts from the end that its sign names", "[list]") {
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
      uint64_t at = 0;
      do {
        std::string run = "kept";
        const uint64_t next = list.Save(at, max_bytes, run);
        REQUIRE((next == 0 || next > at));
        REQUIRE(run.substr(0, 4) == "kept");
        REQUIRE(loaded.Load(std::string_view(run).substr(4)));
        REQUIRE(loaded.size() == (next == 0 ? list.size() : next));
        at = next;
      } while (at != 0);
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
}  // namespace tally::list_test
