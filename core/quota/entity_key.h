// The table key of a user or SKU: its zigzag in as few bytes as hold it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/quota/packed_integer.h"

namespace tally {

class EntityKey {
 public:
  explicit EntityKey(int64_t id) {
    const uint64_t zigzag = ZigZagEncode(id);
    size_ = PackedBytes(zigzag);
    std::memcpy(bytes_, &zigzag, sizeof zigzag);
  }
  std::string_view view() const { return {bytes_, size_}; }

  // The id of a key; what view() was made from.
  static int64_t IdOf(std::string_view key) {
    uint64_t zigzag = 0;
    std::memcpy(&zigzag, key.data(), key.size());
    return ZigZagDecode(zigzag);
  }

 private:
  char bytes_[8];
  uint32_t size_;
};

}  // namespace tally
