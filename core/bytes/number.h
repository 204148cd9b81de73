// The canonical decimal text of 64-bit integers, as Redis reads and writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tally {

// "-9223372036854775808", the longest.
inline constexpr size_t kMaxInt64Chars = 20;

// Sets `value` to the number whose canonical text is `text`; returns false, with `value` unchanged,
// if there is none. As strict as Redis's string2ll: no spaces, no '+', no leading zeros, no "-0",
// nothing out of range. So WriteInt64 of the result gives exactly `text` again.
//
// A function of its own beside ParseInt64, because gcc 12 returns an optional by way of the stack:
// it writes the flag as one byte and then reads eight, for which a processor waits some 5 ns.
[[nodiscard]] bool ReadInt64(std::string_view text, int64_t& value);

// The same with nullopt for false.
inline std::optional<int64_t> ParseInt64(std::string_view text) {
  int64_t value = 0;
  return ReadInt64(text, value) ? std::optional(value) : std::nullopt;
}

// Writes the decimal text of `value` at `out`, which has room for kMaxInt64Chars, without a
// terminator; returns the end of what it wrote.
char* WriteInt64(char* out, int64_t value);

void AppendInt64(std::string& out, int64_t value);

// The decimal text of a number in its own buffer, for callers that need a view.
class Int64Text {
 public:
  explicit Int64Text(int64_t value)
      : length_(static_cast<size_t>(WriteInt64(chars_, value) - chars_)) {}

  // Lives as long as this object.
  std::string_view view() const { return {chars_, length_}; }

 private:
  char chars_[kMaxInt64Chars];
  size_t length_;
};

}  // namespace tally
