// CONFIG REWRITE as a function from text to text.
#pragma once

#include <string>
#include <string_view>

#include "server/config/config.h"

namespace tally::server {

// Returns the text of a configuration file that gives `config`, made from the present text of the
// file. Comments, blank lines, includes and the order stay. The lines of a directive stay if they
// give its value; otherwise lines with the new value replace them. A value that differs from the
// default and has no line is appended. Values set in included files are not known here, so they may
// be repeated at the end.
std::string RewriteConfigText(std::string_view text, const Config& config);

}  // namespace tally::server
