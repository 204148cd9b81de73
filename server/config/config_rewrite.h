// CONFIG REWRITE as a function over text.
#pragma once

#include <string>
#include <string_view>

#include "server/config/config.h"

namespace tally::server {

// The text of a configuration file that gives `config`, made from the file's present text:
// comments, blank lines, includes and order stay; a directive's lines stay as they are while they
// give its value, and else its new value takes their place; what differs from the default and
// is nowhere is appended. What an included file sets is not known here, so that it may be
// repeated at the end.
std::string RewriteConfigText(std::string_view text, const Config& config);

}  // namespace tally::server
