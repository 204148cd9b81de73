#include "server/arguments/counted_keys.h"

#include <absl/strings/ascii.h>

#include <charconv>
#include <cstdint>
#include <string_view>

namespace tally::server {
namespace {

// Returns the number at the beginning of the text as atoi does, truncated to 32 bits; 0 if there is
// none.
int32_t LeadingNumber(std::string_view text) {
  while (!text.empty() && absl::ascii_isspace(static_cast<unsigned char>(text.front()))) {
    text.remove_prefix(1);
  }
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return static_cast<int32_t>(number);
}

}  // namespace

bool FindCountedKeys(Args args, size_t index, std::vector<KeyReference>& keys) {
  const int32_t count = LeadingNumber(args[index]);
  if (count < 1 || static_cast<size_t>(count) > args.size() - index - 1) return false;
  for (size_t i = 1; i <= static_cast<size_t>(count); ++i) keys.push_back({index + i});
  return true;
}

bool FindFirstCountedKeys(Args args, std::vector<KeyReference>& keys) {
  return FindCountedKeys(args, 1, keys);
}

}  // namespace tally::server
