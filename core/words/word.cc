#include "core/words/word.h"

#include <absl/strings/ascii.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tally {
namespace {

// Whether four characters are those, which are lower case, in any case.
bool SameFour(const char* word, const char* lower) {
  uint32_t a;
  uint32_t b;
  std::memcpy(&a, word, sizeof a);
  std::memcpy(&b, lower, sizeof b);
  // In each byte bit 5, if the lower case one is a letter. Without the high bits nothing carries.
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
  // Four at a time, the last ones with some of those before them.
  for (size_t i = 0; i + 4 < size; i += 4) {
    if (!SameFour(word.data() + i, lower.data() + i)) return false;
  }
  return SameFour(word.data() + size - 4, lower.data() + size - 4);
}

}  // namespace tally
