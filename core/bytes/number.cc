#include "core/bytes/number.h"

#include <charconv>

namespace tally {

namespace {

// So many digits cannot overflow.
constexpr size_t kSafeDigits = 18;

}  // namespace

std::optional<int64_t> ParseInt64(std::string_view text) {
  // Most numbers are short and not negative.
  if (!text.empty() && text.size() <= kSafeDigits && text[0] >= '1' && text[0] <= '9') {
    int64_t value = 0;
    for (const char c : text) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    return value;
  }
  if (text.empty() || text.size() > kMaxInt64Chars) return std::nullopt;
  if (text == "0") return 0;
  // from_chars takes a '-' but neither '+' nor spaces; leading zeros are ours to refuse.
  const char first_digit = text.front() == '-' && text.size() > 1 ? text[1] : text.front();
  if (first_digit < '1' || first_digit > '9') return std::nullopt;
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

char* WriteInt64(char* out, int64_t value) {
  return std::to_chars(out, out + kMaxInt64Chars, value).ptr;
}

void AppendInt64(std::string& out, int64_t value) { out.append(Int64Text(value).view()); }

}  // namespace tally
