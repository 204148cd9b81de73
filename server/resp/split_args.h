// Splits a line into words by the quoting rules that inline commands and the configuration file
// share (Redis's sdssplitargs).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// Words are separated by white space. Inside "…" the escapes are \xHH, \n, \r, \t, \b and \a; a
// backslash before any other byte stands for that byte. Inside '…' the only escape is \'. A quote
// may begin inside a word, but white space or the end of the line must follow a closing quote.
// Returns nullopt if the quotes are unbalanced. O(line).
std::optional<std::vector<std::string>> SplitArgs(std::string_view line);

}  // namespace tally::server
