// SHA1 in lower-case hex, the name of a script.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace tally::server {

struct Sha1Hex {
  std::array<char, 40> digits{};
  std::string_view view() const { return {digits.data(), digits.size()}; }
};

// O(bytes).
Sha1Hex Sha1Of(std::string_view bytes);

// Sha1Of for texts that are repeated, as those of EVAL are. For a text that was given lately it
// costs only a comparison. Holds up to kEntries texts of up to kMaxBytes each.
class Sha1Memo {
 public:
  Sha1Hex Of(std::string_view bytes);

  static constexpr size_t kEntries = 32;
  static constexpr size_t kMaxBytes = 8 * 1024;

 private:
  struct Entry {
    std::string bytes;
    Sha1Hex sha;
  };
  static size_t PlaceOf(std::string_view bytes);

  std::array<Entry, kEntries> entries_;  // a text can be in one place only
};

}  // namespace tally::server
