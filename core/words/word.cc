#include "core/words/word.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tally {
namespace {

// Whether the four characters at `word` equal those at `lower`, which are in lower case, if the
// case of ASCII letters is ignored.
bool SameFour(const char* word, const char* lower) {
  uint32_t a;
  uint32_t b;
  std::memcpy(&a, word, sizeof a);
  std::memcpy(&b, lower, sizeof b);
  // `letters` has bit 5 set in each byte in which `b` is a letter. The high bits are masked off so
  // that no addition carries into the next byte.
  const uint32_t low = b & 0x7F7F7F7F;
  const uint32_t letters = ((low + 0x1F1F1F1F) & ~(low + 0x05050505) & ~b & 0x80808080) >> 2;
  return ((a ^ b) & ~letters) == 0;
}

}  // namespace

bool SameLetters(std::string_view word, std::string_view lower) {
  const size_t size = lower.size();
  if (size < 4) {
    return std::equal(word.begin(), word.end(), lower.begin(), [](char a, char b) {
      return absl::ascii_tolower(static_cast<unsigned char>(a)) == b;
    });
  }
  // Compares four characters at a time; the last four may overlap the four before.
  for (size_t i = 0; i + 4 < size; i += 4) {
    if (!SameFour(word.data() + i, lower.data() + i)) return false;
  }
  return SameFour(word.data() + size - 4, lower.data() + size - 4);
}

}  // namespace tally
