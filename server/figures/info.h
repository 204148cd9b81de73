// The text of INFO: sections of "name:value" rows, each under a "# Section" line.
#pragma once

#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/interfaces/services.h"

namespace tally::server {

// Returns the sections that `words` name, in any case, each once and in the order of INFO. No words
// mean "default"; "all" and "everything" mean every section. Unknown names give nothing.
std::string RenderInfo(const Services& server, Args words);

}  // namespace tally::server
