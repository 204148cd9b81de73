#include "server/rdb/packed_list.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "random_seed.h"
#include "tests/unit/server/rdb_bytes.h"

namespace tally::rdb::test::packed_list_test {
namespace {

using tally::test::SeededRandom;

// All elements, and the error at the end if there is one.
template <typename Reader>
Texts ElementsOf(std::string_view blob) {
  Reader reader(blob);
  Texts found;
  StoredText element;
  while (reader.Next(element)) found.emplace_back(element.text());
  if (!reader.good()) found.push_back("! " + std::string(reader.why()));
  return found;
}

template <typename Reader>
std::string ErrorOf(std::string_view blob) {
  const Texts found = ElementsOf<Reader>(blob);
  return found.empty() || !found.back().starts_with("! ") ? "" : found.back().substr(2);
}

// Numbers and texts around every limit of the encodings.
std::string RandomText(SeededRandom& random) {
  if (random.OneIn(2)) {
    const int64_t edge = int64_t{1} << random.Below(63);
    const int64_t number = edge + random.Between(-2, 2);
    return StrCat(random.OneIn(2) ? number : -number);
  }
  constexpr size_t kSizes[] = {0,   1,   12,   62,   63,   64,    126,   127,  250,
                               253, 254, 4094, 4095, 4096, 16381, 16383, 16384};
  std::string text(kSizes[random.Below(std::size(kSizes))], 'x');
  for (char& c : text) c = static_cast<char>(random.Below(256));
  return text;
}

TEST_CASE("packed lists: what a naive writer packs is read back", "[rdb]") {
  SeededRandom random;
  for (int round = 0; round < 300; ++round) {
    Texts texts(2 * random.Below(20));
    for (std::string& text : texts) text = RandomText(random);
    REQUIRE(ElementsOf<ListpackReader>(Listpack(texts)) == texts);
    REQUIRE(ElementsOf<ZiplistReader>(Ziplist(texts)) == texts);
    REQUIRE(ElementsOf<ZipmapReader>(Zipmap(texts)) == texts);
  }
}

template <typename Reader>
void Damage(const std::string& blob, SeededRandom& random) {
  for (size_t size = 0; size < blob.size(); ++size) {
    CHECK_FALSE(ErrorOf<Reader>(blob.substr(0, size)).empty());
  }
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = blob;
    for (uint64_t n = 1 + random.Below(3); n > 0; --n) {
      damaged[random.Below(damaged.size())] = static_cast<char>(random.Below(256));
    }
    ElementsOf<Reader>(damaged);
  }
}

TEST_CASE("packed lists: damage is found or harmless, never a crash", "[rdb]") {
  SeededRandom random;
  const Texts texts = {"a", "12345", std::string(300, 'b'), "-7", "c", "9000000000"};
  Damage<ListpackReader>(Listpack(texts), random);
  Damage<ZiplistReader>(Ziplist(texts), random);
  Damage<ZipmapReader>(Zipmap(texts), random);
  Damage<IntsetReader>(Intset({1, 2, 3}, 4), random);
}

TEST_CASE("packed lists: what lies is named", "[rdb]") {
  const std::string ziplist = Ziplist({"abc", "def"});
  const auto with = [](std::string blob, size_t place, int byte) {
    blob[place] = static_cast<char>(byte);
    return blob;
  };
  CHECK(ErrorOf<ZiplistReader>(with(ziplist, 0, 1)) == "ziplist: its length is wrong");
  CHECK(ErrorOf<ZiplistReader>(with(ziplist, 4, 10)) == "ziplist: its last entry is elsewhere");
  CHECK(ErrorOf<ZiplistReader>(with(ziplist, 8, 3)) == "ziplist: its count is wrong");
  CHECK(ErrorOf<ZiplistReader>(with(ziplist, 15, 4)) ==
        "ziplist: the length of an entry before is wrong");
  CHECK(ErrorOf<ZiplistReader>(with(ziplist, 16, 60)) == "ziplist: a text that is longer than it");
  CHECK(ErrorOf<ZiplistReader>(with(ziplist, 16, 0xFF)) == "ziplist: an unknown encoding");
  const std::string listpack = Listpack({"abc", "1"});
  CHECK(ErrorOf<ListpackReader>(with(listpack, 4, 3)) == "listpack: its count is wrong");
  CHECK(ErrorOf<ListpackReader>(with(listpack, 10, 5)) == "listpack: a backward length is wrong");
  CHECK(ErrorOf<ListpackReader>(with(listpack, 6, 0xF5)) == "listpack: an unknown encoding");
  CHECK(ErrorOf<IntsetReader>(Intset({1, 1}, 2)) == "intset: its integers do not rise");
  CHECK(ErrorOf<IntsetReader>(Intset({2, 1}, 8)) == "intset: its integers do not rise");
  CHECK(ErrorOf<IntsetReader>(Little(3, 4) + Little(0, 4)) == "intset: an unknown encoding");
  CHECK(ErrorOf<IntsetReader>(Little(8, 4) + Little(UINT32_MAX, 4)) ==
        "intset: its length is wrong");
  CHECK(ErrorOf<ZipmapReader>(with(Zipmap({"a", "b"}), 0, 2)) == "zipmap: its count is wrong");
  CHECK(ErrorOf<ZipmapReader>("\1\1"
                              "a\xff") == "zipmap: a field without a value");
}

}  // namespace
}  // namespace tally::rdb::test::packed_list_test
