#include "core/bytes/printable.h"

#include <absl/strings/str_cat.h>

#include <cstddef>
#include <cstdint>

namespace tally {

size_t Utf8Length(std::string_view bytes) {
  const auto at = [&](size_t i) { return i < bytes.size() ? static_cast<uint8_t>(bytes[i]) : 0; };
  const auto continues = [&](size_t i) { return (at(i) & 0xC0) == 0x80; };
  const int first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool in_range = (first != 0xE0 || at(1) >= 0xA0) && (first != 0xED || at(1) < 0xA0);
    return continues(1) && continues(2) && in_range ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool in_range = (first != 0xF0 || at(1) >= 0x90) && (first != 0xF4 || at(1) < 0x90);
    return continues(1) && continues(2) && continues(3) && in_range ? 4 : 0;
  }
  return 0;
}

std::string Printable(std::string_view bytes, std::string_view special) {
  std::string text;
  while (!bytes.empty()) {
    const size_t length = Utf8Length(bytes);
    const auto byte = static_cast<uint8_t>(bytes[0]);
    const bool escaped = length == 0 || byte < 0x20 || byte == 0x7F || byte == '\\' ||
                         special.find(bytes[0]) != std::string_view::npos;
    if (escaped) {
      absl::StrAppend(&text, "\\x", absl::Hex(byte, absl::kZeroPad2));
      bytes.remove_prefix(1);
    } else {
      text += bytes.substr(0, length);
      bytes.remove_prefix(length);
    }
  }
  return text;
}

}  // namespace tally
