// What clients see of a scan's cursor. A cursor is the beginning of a key's hash, and from a few
// hashes of known keys the seed of the hash tables can be computed; who knows that can make keys
// that all collide. So cursors are enciphered, with a key that no client sees.
#pragma once

#include <cstdint>

namespace tally::server {

class CursorCode {
 public:
  explicit CursorCode(uint64_t key) : key_(key) {}

  // One to one on cursors below 2^48; 0, which begins and ends a scan, stays 0.
  uint64_t Shown(uint64_t cursor) const;
  // The inverse. What is no cursor stays none.
  uint64_t Meant(uint64_t shown) const;

 private:
  uint64_t Mix(uint64_t half, unsigned round) const;
  uint64_t Encipher(uint64_t cursor) const;
  uint64_t Decipher(uint64_t shown) const;

  uint64_t key_;
};

}  // namespace tally::server
