// Decodes the percent-encoding in the target of a request (RFC 3986). A '+' stays a plus and does
// not become a blank, because keys are often addresses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally::server {

// Returns the decoded bytes; nullopt if a '%' is not followed by two hexadecimal digits.
std::optional<std::string> PercentDecoded(std::string_view text);

using QueryFields = std::vector<std::pair<std::string, std::string>>;
// Splits a query at each '&' into fields `name=value`, and decodes them. A field without '=' has an
// empty value. Returns nullopt if a field is not well encoded.
std::optional<QueryFields> ParseQuery(std::string_view query);

}  // namespace tally::server
