// The checksum of RDB files and of the payloads of DUMP.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally::rdb {

// Returns the CRC-64 (Jones) of the bytes before, whose checksum is `crc`, and of `bytes`. The
// checksum of no bytes is 0.
uint64_t ExtendCrc64(uint64_t crc, std::string_view bytes);

}  // namespace tally::rdb
