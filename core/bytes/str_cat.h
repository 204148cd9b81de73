// Text from parts: strings, characters and integers. absl::StrCat does not take std::string_view
// where abseil is built with a string_view of its own, as Debian's is.
#pragma once

#include <charconv>
#include <concepts>
#include <string>
#include <string_view>

namespace tally {

inline void AppendPart(std::string& out, std::string_view part) { out.append(part); }
inline void AppendPart(std::string& out, char part) { out.push_back(part); }

template <std::integral Int>
  requires(!std::same_as<Int, char> && !std::same_as<Int, bool>)
void AppendPart(std::string& out, Int part) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof(digits), part).ptr);
}

template <typename... Parts>
void StrAppend(std::string& out, const Parts&... parts) {
  (AppendPart(out, parts), ...);
}

template <typename... Parts>
[[nodiscard]] std::string StrCat(const Parts&... parts) {
  std::string out;
  StrAppend(out, parts...);
  return out;
}

}  // namespace tally
