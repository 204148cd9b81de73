// Texts of single settings: memory sizes, durations, octal modes, quoting.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// Bytes, from 0 to INT64_MAX, with one of the units b, k, m, g (powers of 1000), kb, mb, gb (powers
// of 1024) in any case, or none. Nothing if the text is no such size or does not fit.
std::optional<int64_t> ParseMemory(std::string_view text);

// Milliseconds, at least 0, of `500ms`, `5s`, `10m`, `24h`, `7d` or a bare number of seconds.
std::optional<int64_t> ParseDuration(std::string_view text);

// The largest unit that gives a whole number.
std::string FormatDuration(int64_t milliseconds);

// A file mode, 0 to 0777.
std::optional<int64_t> ParseOctal(std::string_view text);
std::string FormatOctal(int64_t mode);

// As one word of a configuration line: quoted and escaped unless it is plain and not empty.
std::string QuoteWord(std::string_view word);

// The same, but only in quotes if SplitArgs would not read the word back as it is.
std::string QuoteIfNeeded(std::string_view word);
// The line that SplitArgs makes these words of.
std::string JoinQuoted(std::span<const std::string> words);

// The words between spaces; none for a text without words.
std::vector<std::string> SplitAtSpaces(std::string_view text);

// ASCII only, as directive names and yes/no are compared.
std::string ToLower(std::string_view text);

}  // namespace tally::server
