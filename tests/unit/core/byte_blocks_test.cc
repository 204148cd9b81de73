#include "core/bytes/byte_blocks.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/bytes/text.h"
#include "random_seed.h"

namespace tally::byte_blocks_test {
namespace {

constexpr size_t kBlock = ByteBlocks::kBlockBytes;

// Mostly short, sometimes around the sizes at which blocks end and bytes are shared.
std::string RandomText(test::SeededRandom& random) {
  const size_t sizes[] = {300, 300, 2 * ByteBlocks::kSharedFrom, kBlock + 200, 4 * kBlock};
  std::string text(random.Below(sizes[random.Below(std::size(sizes))] + 1), '\0');
  const auto first = static_cast<char>(random.Below(256));
  for (size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(first + i / 7);
  return text;
}

// One ByteBlocks, and the string that it stands for.
struct Pair {
  ByteBlocks blocks;
  std::string model;
};

// What a socket that takes `bytes` would be given.
std::string Sent(ByteBlocks& blocks, size_t bytes) {
  std::string sent;
  std::array<std::string_view, 3> pieces;
  while (sent.size() < bytes && !blocks.empty()) {
    const size_t count = blocks.Front(pieces, bytes - sent.size());
    size_t part = 0;
    for (size_t i = 0; i < count; ++i) {
      sent += pieces[i];
      part += pieces[i].size();
    }
    blocks.Consume(part);
  }
  return sent;
}

void Require(const Pair& pair) {
  REQUIRE(pair.blocks.size() == pair.model.size());
  REQUIRE(pair.blocks.empty() == pair.model.empty());
  REQUIRE(pair.blocks.heap_bytes() >= pair.model.size());
}

void RequireAll(const Pair& pair) {
  Require(pair);
  // In brackets: megabytes are not to be printed.
  REQUIRE((pair.blocks.Joined() == pair.model));
  std::string joined;
  REQUIRE((pair.blocks.View(joined) == pair.model));
}

void Change(test::SeededRandom& random, Pair& pair) {
  auto& [blocks, model] = pair;
  switch (random.Below(9)) {
    case 0: {
      const size_t at = random.Below(model.size() + 1);
      const std::string text = RandomText(random).substr(0, random.Below(24));
      blocks.Insert(at, text);
      model.insert(at, text);
      return;
    }
    case 1: {
      const size_t bytes = random.OneIn(3) ? random.Below(model.size() + 1) : random.Below(200);
      REQUIRE((Sent(blocks, bytes) == model.substr(0, bytes)));
      model.erase(0, bytes);
      return;
    }
    case 2: {
      const size_t left = model.size() - random.Below(model.size() + 1) / (random.OneIn(3) ? 1 : 9);
      blocks.Truncate(left);
      model.resize(left);
      return;
    }
    case 3: {
      const std::string text = RandomText(random).substr(0, random.Below(200));
      char* const to = blocks.Room(200);
      blocks.Commit(std::copy(text.begin(), text.end(), to));
      model += text;
      return;
    }
    case 4: {
      const std::string text = RandomText(random);
      blocks.Append(SharedBytes(Text(text)));
      model += text;
      return;
    }
    default: {
      const std::string text = RandomText(random);
      blocks.Append(text);
      model += text;
    }
  }
}

}  // namespace

TEST_CASE("Blocks hold what was appended, put in, cut off and taken away", "[byte_blocks]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  Pair pair;
  for (int step = 0; step < 3000; ++step) {
    if (random.OneIn(200)) {
      pair.blocks.Clear();
      pair.model.clear();
    }
    Change(random, pair);
    Require(pair);
    if (!pair.model.empty()) {
      const size_t at = random.Below(pair.model.size());
      REQUIRE(pair.blocks[at] == pair.model[at]);
      REQUIRE(pair.blocks.Copy(at, 1000) == pair.model.substr(at, 1000));
    }
    if (random.OneIn(20)) RequireAll(pair);
  }
  RequireAll(pair);
  pair.blocks.Clear();
  REQUIRE(pair.blocks.empty());
  REQUIRE(pair.blocks.Joined().empty());
}

TEST_CASE("Bytes that many hold stay as they were, whatever each does with its own",
          "[byte_blocks]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  std::array<Pair, 5> pairs;
  std::vector<std::pair<SharedBytes, std::string>> messages;
  for (int step = 0; step < 3000; ++step) {
    Pair& pair = pairs[random.Below(pairs.size())];
    if (random.OneIn(10)) {
      messages.emplace_back(pair.blocks.Share(), std::exchange(pair.model, {}));
      REQUIRE(messages.back().first.size() == messages.back().second.size());
      if (messages.size() > 8) messages.erase(messages.begin());
    } else if (!messages.empty() && random.OneIn(3)) {
      const auto& [shared, text] = messages[random.Below(messages.size())];
      if (pair.model.size() < 64 * kBlock) {
        pair.blocks.Append(shared);
        pair.model += text;
      }
    } else {
      Change(random, pair);
    }
    Require(pair);
    if (random.OneIn(20)) RequireAll(pairs[random.Below(pairs.size())]);
  }
  for (const Pair& pair : pairs) RequireAll(pair);
}

TEST_CASE("64 MB for many readers take the memory of one", "[byte_blocks]") {
  constexpr size_t kBytes = size_t{64} << 20;
  ByteBlocks message;
  message.Append("$67108864\r\n");
  message.Append(std::string(kBytes, 'x'));
  message.Append("\r\n");
  REQUIRE(message.heap_bytes() < kBytes + kBytes / 50);
  const SharedBytes shared = message.Share();
  std::array<ByteBlocks, 50> readers;
  const char* first = nullptr;
  for (ByteBlocks& reader : readers) {
    reader.Append("+OK\r\n");
    reader.Append(shared);
    std::array<std::string_view, 2> pieces;
    REQUIRE(reader.Front(pieces) == 2);
    REQUIRE(pieces[0] == "+OK\r\n");
    if (first == nullptr) first = pieces[1].data();
    REQUIRE(pieces[1].data() == first);
  }
  for (ByteBlocks& reader : readers) {
    REQUIRE(reader.size() == kBytes + 18);
    reader.Consume(reader.size() - 3);
    REQUIRE(reader.Joined() == "x\r\n");
  }
}

TEST_CASE("A header in front of 64 MB moves none of them", "[byte_blocks]") {
  ByteBlocks blocks;
  blocks.Append("+OK\r\n");
  const std::string value(1 << 20, 'y');
  for (int i = 0; i < 64; ++i) blocks.Append(value);
  std::array<std::string_view, 8> before;
  std::array<std::string_view, 8> after;
  blocks.Front(before);
  blocks.Insert(5, "*64\r\n");
  blocks.Front(after);
  REQUIRE(after[0] == "+OK\r\n");
  REQUIRE(after[1] == "*64\r\n");
  REQUIRE(after[2].data() == before[0].data() + 5);
  REQUIRE(after[3].data() == before[1].data());
  REQUIRE(blocks.size() == (64u << 20) + 10);
  blocks.Truncate(12);
  REQUIRE(blocks.Joined() == "+OK\r\n*64\r\nyy");
}

TEST_CASE("What is more than the most is dropped, and so is what follows", "[byte_blocks]") {
  ByteBlocks blocks;
  blocks.set_most(1 << 20);
  const std::string value(300'000, 'z');
  for (int i = 0; i < 3; ++i) blocks.Append(value);
  REQUIRE_FALSE(blocks.overflowed());
  REQUIRE(blocks.size() == 900'000);
  for (int i = 0; i < 100; ++i) {
    blocks.Append(value);
    blocks.Insert(900'000, "*3\r\n");
    *blocks.Room(200) = '!';
    blocks.Truncate(5);
  }
  REQUIRE(blocks.overflowed());
  REQUIRE(blocks.heap_bytes() < 4 * kBlock);
  ByteBlocks message;
  message.Append(value);
  blocks.Append(message.Share());
  REQUIRE(blocks.heap_bytes() < 4 * kBlock);
  blocks.Clear();
  REQUIRE_FALSE(blocks.overflowed());
  blocks.Append("+OK\r\n");
  REQUIRE(blocks.Joined() == "+OK\r\n");

  SECTION("of shared bytes too") {
    message.Append(value);
    const SharedBytes shared = message.Share();
    for (int i = 0; i < 5; ++i) blocks.Append(shared);
    REQUIRE(blocks.overflowed());
    REQUIRE(blocks.empty());
  }
}

TEST_CASE("One small block serves small outputs for ever", "[byte_blocks]") {
  ByteBlocks blocks;
  for (int i = 0; i < 1000; ++i) {
    blocks.Append("+PONG\r\n");
    blocks.Consume(blocks.size());
    REQUIRE(blocks.heap_bytes() == ByteBlocks::kFirstBlockBytes);
  }
}

}  // namespace tally::byte_blocks_test
