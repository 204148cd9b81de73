#include "server/aof/byte_blocks.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/unit/random_seed.h"

namespace tally::server {
namespace {

TEST_CASE("Blocks hold what was appended, in its order", "[byte_blocks]") {
  test::SeededRandom random;
  INFO("seed " << random.seed());
  ByteBlocks blocks;
  std::string model;
  for (int step = 0; step < 2000; ++step) {
    if (random.OneIn(300)) {
      blocks.Clear();
      model.clear();
    }
    const size_t most = random.OneIn(100) ? 2 * ByteBlocks::kBlockBytes : 2000;
    const std::string bytes(random.Below(most + 1), static_cast<char>('a' + random.Below(26)));
    blocks.Append(bytes);
    model += bytes;
    REQUIRE(blocks.size() == model.size());
    REQUIRE(blocks.empty() == model.empty());
    if (random.OneIn(20)) REQUIRE(blocks.Joined() == model);
  }
  REQUIRE(blocks.Joined() == model);
  blocks.Clear();
  REQUIRE(blocks.empty());
  REQUIRE(blocks.Joined().empty());
}

}  // namespace
}  // namespace tally::server
