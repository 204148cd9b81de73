// Reads the fixed fields of a line, strictly: a text that our own formatter cannot have written is
// refused.
#pragma once

#include <cstdint>
#include <string_view>

namespace tally::server {

class TextScanner {
 public:
  explicit TextScanner(std::string_view text) : rest_(text) {}

  bool Literal(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }

  // Exactly `width` decimal digits (at most 18, so that the value does not overflow).
  bool Decimal(size_t width, uint64_t& value) {
    if (rest_.size() < width) return false;
    value = 0;
    for (const char c : rest_.substr(0, width)) {
      if (c < '0' || c > '9') return false;
      value = value * 10 + static_cast<uint64_t>(c - '0');
    }
    rest_.remove_prefix(width);
    return true;
  }

  // Exactly eight lower-case hexadecimal digits.
  bool Hex32(uint32_t& value) {
    if (rest_.size() < 8) return false;
    value = 0;
    for (const char c : rest_.substr(0, 8)) {
      const bool digit = c >= '0' && c <= '9';
      if (!digit && (c < 'a' || c > 'f')) return false;
      value = value << 4 | static_cast<uint32_t>(digit ? c - '0' : c - 'a' + 10);
    }
    rest_.remove_prefix(8);
    return true;
  }

  bool AtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

}  // namespace tally::server
