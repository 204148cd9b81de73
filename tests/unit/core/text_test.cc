#include "core/bytes/text.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/heap_size.h"
#include "random_seed.h"

namespace tally::text_test {

TEST_CASE("A text is what a string is after the same changes", "[text]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 60; ++round) {
    const size_t scale = size_t{1} << random.Below(19);
    std::string model(random.Below(scale), 'm');
    Text text(model);
    const size_t rounded = HeapBytes(model.size());
    REQUIRE(text.capacity() >= model.size());
    if (rounded < Text::kShareable) REQUIRE(text.capacity() == rounded);
    for (int step = 0; step < 40; ++step) {
      const std::string bytes(random.Below(scale), static_cast<char>('a' + step % 26));
      const size_t at = random.Below(model.size() + 1);
      const size_t count = random.Below(model.size() - at + 1);
      switch (random.Below(7)) {
        case 5: {
          std::copy(bytes.begin(), bytes.end(), text.Room(bytes.size() + count));
          text.Commit(bytes.size());
          model.append(bytes);
          break;
        }
        case 0:
          text.Append(bytes);
          model.append(bytes);
          break;
        case 1:
          text.Replace(at, count, bytes);
          model.replace(at, count, bytes);
          break;
        case 2: {
          // Often much larger than before.
          const size_t size = random.Below(random.OneIn(2) ? 8 * scale : model.size() + 1);
          text.Resize(size);
          model.resize(size);
          break;
        }
        case 3:
          text.DropFront(count);
          model.erase(0, count);
          break;
        case 4:
          text.Reserve(at + count);
          REQUIRE(text.capacity() >= at + count);
          break;
        default: {
          Text copy = text.Clone();
          text = std::move(copy);
        }
      }
      REQUIRE(text.size() == model.size());
      REQUIRE(text.empty() == model.empty());
      REQUIRE(text.capacity() >= text.size());
      REQUIRE(text.MemoryBytes() >= text.capacity());
      if (text.view() != model) FAIL("the text is another after step " << step);
    }
  }
}

TEST_CASE("What grows from nothing to many bytes is zeros", "[text]") {
  Text text(std::string_view("head"));
  text.Resize(50'000'000);
  CHECK(text.size() == 50'000'000);
  CHECK(text.view().starts_with("head"));
  CHECK(text.view().find_first_not_of('\0', 4) == std::string_view::npos);
  text.Resize(2);
  text.Resize(40'000'000);
  CHECK(text.view().starts_with("he"));
  CHECK(text.view().find_first_not_of('\0', 2) == std::string_view::npos);
}

TEST_CASE("A part that is most of a text is taken over where it lies", "[text]") {
  const std::string head = "SET key ";
  const std::string value(100'000, 'v');
  Text request(head + value + "\r\nnext");
  request.DropFront(4);
  const std::string_view key = request.view().substr(0, 3);
  const std::string_view part = request.view().substr(4, value.size());
  Text taken = request.Take(part);
  CHECK(request.empty());
  CHECK(request.capacity() == 0);
  CHECK(taken.view().data() == part.data());
  CHECK(taken.view() == value);
  CHECK(key == "key");
  CHECK(std::string_view(part.data() + part.size(), 6) == "\r\nnext");
  taken.Append("more");
  CHECK(taken.view() == value + "more");
  taken.DropFront(1);
  taken.Resize(taken.size() + 300'000);
  CHECK(taken.view().substr(0, value.size() + 3) == value.substr(1) + "more");
  request.Append("used again");
  CHECK(request.view() == "used again");
}

TEST_CASE("Texts that share their memory change independently of one another", "[text]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  for (int round = 0; round < 100; ++round) {
    const size_t size = Text::kShareable / 2 + random.Below(2 * Text::kShareable);
    std::string model(size, 'm');
    Text text(model);
    std::vector<std::pair<Text, std::string>> shared;
    for (int step = 0; step < 12; ++step) {
      if (random.OneIn(2)) {
        shared.emplace_back(text.Share(), model);
        const bool same = shared.back().first.view().data() == text.view().data();
        REQUIRE((same || text.capacity() < 2 * Text::kShareable));
      }
      const std::string bytes(random.Below(50'000), static_cast<char>('a' + step));
      const size_t at = random.Below(model.size() + 1);
      const size_t count = random.Below(model.size() - at + 1);
      switch (random.Below(8)) {
        case 0:
          text.Append(bytes);
          model += bytes;
          break;
        case 1:
          text.Replace(at, count, bytes);
          model.replace(at, count, bytes);
          break;
        case 2:
          text.Resize(at);
          model.resize(at);
          break;
        case 3:
          text.Resize(model.size() + count);
          model.resize(model.size() + count);
          break;
        case 4:
          text.DropFront(count);
          model.erase(0, count);
          break;
        case 5:
          if (model.empty()) break;
          text[model.size() / 2] = model[model.size() / 2] = 'x';
          break;
        case 6:
          std::copy(bytes.begin(), bytes.end(), text.Room(bytes.size() + 5));
          text.Commit(bytes.size());
          model += bytes;
          break;
        default:
          // The one that is left keeps what it has.
          if (!shared.empty()) shared.erase(shared.begin());
      }
      REQUIRE(text.view() == model);
      for (const auto& [other, expected] : shared) REQUIRE(other.view() == expected);
    }
    text = Text();
    for (const auto& [other, expected] : shared) REQUIRE(other.view() == expected);
  }
}

TEST_CASE("A text that shares its memory gives no part of it away", "[text]") {
  Text text(std::string(100'000, 'v'));
  const Text other = text.Share();
  CHECK(other.view().data() == text.view().data());
  CHECK(text.Take(text.view()).empty());
  CHECK(text.size() == 100'000);
}

TEST_CASE("A part that is short, or the lesser one, or elsewhere is not taken", "[text]") {
  const std::string value(100'000, 'v');
  Text request(value + value);
  CHECK(request.Take(request.view().substr(0, value.size())).empty());
  CHECK(request.Take(value).empty());
  CHECK(request.Take("").empty());
  CHECK(request.view() == value + value);
  Text little(std::string_view("little"));
  CHECK(little.Take(little.view()).empty());
  CHECK(little.view() == "little");
  Text nothing;
  CHECK(nothing.Take(value).empty());
}

}  // namespace tally::text_test
