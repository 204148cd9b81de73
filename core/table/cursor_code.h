// Enciphers the cursors of scans for clients. A cursor is the beginning of a key's hash. From a few
// hashes of known keys a client could compute the seed of the hash tables, and with the seed make
// keys that all collide. So cursors are enciphered with a key that no client sees.
#pragma once

#include <cstdint>

namespace tally {

class CursorCode {
 public:
  explicit CursorCode(uint64_t key) : key_(key) {}

  // Returns what clients see for a cursor. One to one on cursors below 2^48. 0, which begins and
  // ends a scan, stays 0; numbers of 2^48 or more stay what they are.
  uint64_t Encode(uint64_t cursor) const;
  // The inverse of Encode(). A number that is no cursor stays what it is.
  uint64_t Decode(uint64_t shown) const;

 private:
  uint64_t Mix(uint64_t half, unsigned round) const;
  uint64_t Encipher(uint64_t cursor) const;
  uint64_t Decipher(uint64_t shown) const;

  uint64_t key_;
};

}  // namespace tally
