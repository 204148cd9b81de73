// Bytes as text for people: log lines, MONITOR, error messages.
#pragma once

#include <string>
#include <string_view>

namespace tally::server {

// In double quotes, with everything that is not printable ASCII escaped, as redis-cli reads it.
void AppendQuoted(std::string& out, std::string_view bytes);

}  // namespace tally::server
