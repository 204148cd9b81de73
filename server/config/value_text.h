// Parses and formats single values: memory sizes, durations, octal modes, quoted words.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// Returns bytes, from 0 to INT64_MAX. The unit is b, k, m, g (powers of 1000), kb, mb, gb (powers
// of 1024), in any letter case, or missing. Returns nullopt if the text is no such size or does not
// fit.
std::optional<int64_t> ParseMemory(std::string_view text);

// Returns milliseconds, at least 0, for `500ms`, `5s`, `10m`, `24h`, `7d` or a bare number of
// seconds; nullopt if the text is no such duration or does not fit.
std::optional<int64_t> ParseDuration(std::string_view text);

// Uses the largest unit that gives a whole number; 0 is "0".
std::string FormatDuration(int64_t milliseconds);

// A file mode, 0 to 0777; nullopt for any other text.
std::optional<int64_t> ParseOctal(std::string_view text);
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
