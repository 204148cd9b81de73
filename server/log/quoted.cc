#include "server/log/quoted.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_cat.h>

#include <algorithm>

namespace tally::server {
namespace {

bool IsPlain(char c) {
  return absl::ascii_isprint(static_cast<unsigned char>(c)) && c != '"' && c != '\\';
}

void AppendEscaped(std::string& out, char c) {
  constexpr std::string_view kSpecial = "\n\r\t\a\b\\\"";
  constexpr std::string_view kLetters = "nrtab\\\"";
  out += '\\';
  if (const size_t at = kSpecial.find(c); at != std::string_view::npos) {
    out += kLetters[at];
    return;
  }
  absl::StrAppend(&out, "x", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
}

}  // namespace

// Plain bytes are appended together: a value of many megabytes is nearly always only such.
void AppendQuoted(std::string& out, std::string_view bytes) {
  out += '"';
  while (!bytes.empty()) {
    const auto end = std::find_if_not(bytes.begin(), bytes.end(), IsPlain);
    const auto plain = static_cast<size_t>(end - bytes.begin());
    out.append(bytes.data(), plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) break;
    AppendEscaped(out, bytes.front());
    bytes.remove_prefix(1);
  }
  out += '"';
}

}  // namespace tally::server
