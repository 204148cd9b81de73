// Percent-encoding in the target of a request (RFC 3986). A '+' is a plus: keys are often
// addresses.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tally::server {

// The bytes that the text stands for; nothing if a '%' is not followed by two hexadecimal digits.
std::optional<std::string> PercentDecoded(std::string_view text);

using QueryFields = std::vector<std::pair<std::string, std::string>>;
// The fields `name=value` of a query, which '&' separates; without '=' the value is empty. Nothing
// if one is not well encoded.
std::optional<QueryFields> ParseQuery(std::string_view query);

}  // namespace tally::server
