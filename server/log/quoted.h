// Formats bytes as text for people: in log lines, MONITOR and error messages.
#pragma once

#include <string>
#include <string_view>

namespace tally::server {

// Appends the bytes in double quotes. Everything that is not printable ASCII is escaped in the form
// that redis-cli reads.
void AppendQuoted(std::string& out, std::string_view bytes);
std::string Quoted(std::string_view bytes);

}  // namespace tally::server
