#include "server/aof/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

#include "core/base/upper_halves.h"

namespace tally::server {

uint32_t ExtendCrc32c(uint32_t crc, std::string_view bytes) {
  // libisal takes the length as an int, and takes and returns the checksum with all bits inverted.
  constexpr size_t kMaxPiece = size_t{1} << 30;
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const std::string_view piece = bytes.substr(0, kMaxPiece);
    // libisal does not change the bytes; its parameter only lacks the const.
    auto* data = reinterpret_cast<unsigned char*>(const_cast<char*>(piece.data()));
    state = crc32_iscsi(data, static_cast<int>(piece.size()), state);
    bytes.remove_prefix(piece.size());
  }
  ClearUpperHalves();
  return ~state;
}

}  // namespace tally::server
