// Reads and formats single values: counts, memory sizes, durations, octal modes, quoted words.
#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// How a number is written, in any letter case.
enum class Quantity : uint8_t {
  kCount,     // 42, -1
  kBytes,     // 42, 42b, 1k, 1m, 1g (powers of 1000), 1kb, 1mb, 1gb (powers of 1024)
  kDuration,  // as ParseDuration reads it; the value is milliseconds
  kMode,      // of a file, in octal digits
};

struct Bounds {
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

// Returns the value. InvalidArgument if the text is no such number, or if the value is not within
// the bounds, which the message then names.
absl::StatusOr<int64_t> ReadQuantity(std::string_view text, Quantity quantity, Bounds bounds = {});

std::string FormatOctal(int64_t mode);

// Returns the word as it is written on a configuration line: quoted and escaped, unless it is plain
// and not empty.
std::string QuoteWord(std::string_view word);

// Like QuoteWord, but quotes only if SplitArgs would not read the word back unchanged.
std::string QuoteIfNeeded(std::string_view word);
// Joins the words to a line that SplitArgs splits into the same words.
std::string JoinQuoted(std::span<const std::string> words);

// The words between spaces; none for a text without words.
std::vector<std::string> SplitAtSpaces(std::string_view text);

// Changes only ASCII letters, because names of directives and yes/no are compared so.
std::string ToLower(std::string_view text);

}  // namespace tally::server
