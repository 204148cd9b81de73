#include "server/rdb/crc64.h"

#include <isa-l/crc64.h>

#include "core/base/upper_halves.h"

namespace tally::rdb {

// libisal takes and returns the checksum with all bits inverted.
uint64_t ExtendCrc64(uint64_t crc, std::string_view bytes) {
  if (bytes.empty()) return crc;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const uint64_t extended = ~crc64_jones_refl(~crc, data, bytes.size());
  ClearUpperHalves();
  return extended;
}

}  // namespace tally::rdb
