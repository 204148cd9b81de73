#include "server/log/quoted.h"

#include <absl/strings/ascii.h>

namespace tally::server {

void AppendQuoted(std::string& out, std::string_view bytes) {
  constexpr std::string_view kSpecial = "\n\r\t\a\b\\\"";
  constexpr std::string_view kLetters = "nrtab\\\"";
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (const size_t at = kSpecial.find(c); at != std::string_view::npos) {
      out += '\\';
      out += kLetters[at];
    } else if (absl::ascii_isprint(byte)) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
  out += '"';
}

}  // namespace tally::server
