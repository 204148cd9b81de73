#include "server/aof/crc32c.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <catch2/catch.hpp>
#include <cstdint>
#include <string>

#include "server/rdb/crc64.h"

namespace tally::server::crc32c_test {
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

#ifdef __x86_64__
// Whether the processor tells which parts of its state are in use (XGETBV with ECX = 1).
bool TellsUse() {
  unsigned features = 0;
  unsigned unused = 0;
  constexpr unsigned kStates = 0xd;
  return __get_cpuid_count(kStates, 1, &features, &unused, &unused, &unused) == 1 &&
         (features & 4) != 0;
}

bool UsesUpperHalves() {
  unsigned low = 0;
  unsigned high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return (low & 4) != 0;
}

TEST_CASE("Checksums do not leave the upper halves of registers in use") {
  if (!TellsUse()) return;
  const std::string text(100'000, 'x');
  const uint32_t crc32 = ExtendCrc32c(0, text);
  const bool used_by_crc32 = UsesUpperHalves();
  const uint64_t crc64 = rdb::ExtendCrc64(0, text);
  const bool used_by_crc64 = UsesUpperHalves();
  CHECK_FALSE(used_by_crc32);
  CHECK_FALSE(used_by_crc64);
  CHECK(crc32 != 0);
  CHECK(crc64 != 0);
}
#endif

}  // namespace
}  // namespace tally::server::crc32c_test
