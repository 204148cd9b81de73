#include "core/words/word.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tally {
namespace {

// Whether the characters at `word`, as many as an integer has bytes, equal those at `lower`, which
// are in lower case, if the case of ASCII letters is ignored.
template <typename Integer>
bool SameCharacters(const char* word, const char* lower) {
  constexpr Integer kEachByte = static_cast<Integer>(0x0101010101010101);
  Integer a;
  Integer b;
  std::memcpy(&a, word, sizeof a);
  std::memcpy(&b, lower, sizeof b);
  // `letters` has bit 5 set in each byte in which `b` is a letter. The high bits are masked off so
  // that no addition carries into the next byte.
  const Integer low = b & kEachByte * 0x7F;
  const Integer from_a = low + kEachByte * 0x1F;
  const Integer after_z = low + kEachByte * 0x05;
  const Integer letters = (from_a & ~after_z & ~b & kEachByte * 0x80) >> 2;
  return ((a ^ b) & ~letters) == 0;
}

// The same for `size` characters, at least one integer's: the last ones may be compared twice.
template <typename Integer>
bool SameSequence(const char* word, const char* lower, size_t size) {
  for (size_t i = 0; i + sizeof(Integer) < size; i += sizeof(Integer)) {
    if (!SameCharacters<Integer>(word + i, lower + i)) return false;
  }
  const size_t last = size - sizeof(Integer);
  return SameCharacters<Integer>(word + last, lower + last);
}

}  // namespace

bool SameLetters(std::string_view word, std::string_view lower) {
  const size_t size = lower.size();
  if (size >= 8) return SameSequence<uint64_t>(word.data(), lower.data(), size);
  if (size >= 4) return SameSequence<uint32_t>(word.data(), lower.data(), size);
  return std::equal(word.begin(), word.end(), lower.begin(), [](char a, char b) {
    return absl::ascii_tolower(static_cast<unsigned char>(a)) == b;
  });
}

}  // namespace tally
