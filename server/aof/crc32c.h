// CRC-32C (Castagnoli, RFC 3720 appendix B.4), computed by libisal with the processor's own
// instructions.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally::server {

// Returns the checksum of the bytes that `crc` covers, followed by `bytes`. Start with crc 0.
// ExtendCrc32c(0, "123456789") == 0xe3069283.
uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes);

}  // namespace tally::server
