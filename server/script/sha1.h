// SHA1 in lower-case hex, the name of a script.
#pragma once

#include <array>
#include <string_view>

namespace tally::server {

struct Sha1Hex {
  std::array<char, 40> digits{};
  std::string_view view() const { return {digits.data(), digits.size()}; }
};

// O(bytes).
Sha1Hex Sha1Of(std::string_view bytes);

}  // namespace tally::server
