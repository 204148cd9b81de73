#include "core/hyperloglog/murmur_hash.h"

namespace tally {
namespace {

constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
constexpr int kShift = 47;

// Reads little endian on every machine; compilers make this one load where they can.
uint64_t LoadTail(const char* from, size_t count) {
  uint64_t word = 0;
  for (size_t i = 0; i < count; ++i) {
    word |= uint64_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return word;
}

}  // namespace

uint64_t MurmurHash64A(std::string_view bytes, uint64_t seed) {
  uint64_t hash = seed ^ (bytes.size() * kMultiplier);
  while (bytes.size() >= sizeof(uint64_t)) {
    uint64_t word = LoadTail(bytes.data(), sizeof word);
    word *= kMultiplier;
    word ^= word >> kShift;
    word *= kMultiplier;
    hash ^= word;
    hash *= kMultiplier;
    bytes.remove_prefix(sizeof word);
  }
  if (!bytes.empty()) {
    hash ^= LoadTail(bytes.data(), bytes.size());
    hash *= kMultiplier;
  }
  hash ^= hash >> kShift;
  hash *= kMultiplier;
  hash ^= hash >> kShift;
  return hash;
}

}  // namespace tally
