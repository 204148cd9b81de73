#include "core/table/cursor_code.h"

#include <xxhash.h>

namespace tally {
namespace {

constexpr unsigned kHalfBits = 24;
constexpr uint64_t kHalfMask = (uint64_t{1} << kHalfBits) - 1;
constexpr uint64_t kCursorEnd = uint64_t{1} << (2 * kHalfBits);
constexpr unsigned kRounds = 6;

}  // namespace

uint64_t CursorCode::Mix(uint64_t half, unsigned round) const {
  const uint64_t words[] = {half, round};
  return XXH3_64bits_withSeed(words, sizeof(words), key_) & kHalfMask;
}

// A balanced Feistel network of six rounds over 48 bits; the round function is XXH3 with the key as
// its seed. By Luby and Rackoff four rounds are enough for a random round function; two more are
// margin. XXH3 is no cipher: this hides the hash's seed from who collects cursors, and protects
// nothing that is worth an analysis of XXH3.
uint64_t CursorCode::Encipher(uint64_t cursor) const {
  uint64_t left = cursor >> kHalfBits;
  uint64_t right = cursor & kHalfMask;
  for (unsigned round = 0; round < kRounds; ++round) {
    const uint64_t mixed = left ^ Mix(right, round);
    left = right;
    right = mixed;
  }
  return left << kHalfBits | right;
}

uint64_t CursorCode::Decipher(uint64_t shown) const {
  uint64_t left = shown >> kHalfBits;
  uint64_t right = shown & kHalfMask;
  for (unsigned round = kRounds; round-- > 0;) {
    const uint64_t mixed = right ^ Mix(left, round);
    right = left;
    left = mixed;
  }
  return left << kHalfBits | right;
}

uint64_t CursorCode::Encode(uint64_t cursor) const {
  if (cursor == 0 || cursor >= kCursorEnd) return cursor;
  const uint64_t shown = Encipher(cursor);
  return shown != 0 ? shown : Encipher(0);
}

uint64_t CursorCode::Decode(uint64_t shown) const {
  if (shown == 0 || shown >= kCursorEnd) return shown;
  const uint64_t cursor = Decipher(shown);
  return cursor != 0 ? cursor : Decipher(0);
}

}  // namespace tally
