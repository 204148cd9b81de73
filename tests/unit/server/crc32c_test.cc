#include "server/aof/crc32c.h"

#include <catch2/catch.hpp>
#include <string>

namespace tally::server {
namespace {

// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
TEST_CASE("CRC-32C has the published values") {
  CHECK(ExtendCrc32c(0, "") == 0);
  CHECK(ExtendCrc32c(0, "123456789") == 0xe3069283);
  CHECK(ExtendCrc32c(0, std::string(32, '\0')) == 0x8a9136aa);
  CHECK(ExtendCrc32c(0, std::string(32, '\xff')) == 0x62a8ab43);
}

TEST_CASE("CRC-32C of pieces is that of the whole") {
  const std::string text = "a stream of RESP commands, in batches";
  const uint32_t whole = ExtendCrc32c(0, text);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    CHECK(ExtendCrc32c(ExtendCrc32c(0, text.substr(0, cut)), text.substr(cut)) == whole);
  }
}

}  // namespace
}  // namespace tally::server
