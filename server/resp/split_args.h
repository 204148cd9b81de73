// Splits a line into words by the quoting rules that inline commands and the configuration file
// share (Redis's sdssplitargs).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// Words are separated by white space. "…" takes \xHH, \n, \r, \t, \b, \a and \<any other byte> for
// itself; '…' takes only \' for a quote. A quote may begin inside a word, but a closing one must be
// followed by white space or the end. Empty if the quotes are unbalanced. O(line).
std::optional<std::vector<std::string>> SplitArgs(std::string_view line);

}  // namespace tally::server
