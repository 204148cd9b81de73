// CRC-32C (Castagnoli, RFC 3720 appendix B.4), by libisal with the processor's own instructions.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally::server {

// The checksum of what `crc` covers followed by `bytes`; start with crc 0.
// ExtendCrc32c(0, "123456789") == 0xe3069283.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);

}  // namespace tally::server
