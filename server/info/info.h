// The text of INFO: sections of "name:value" rows, each under a "# Section" line.
#pragma once

#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/state/services.h"

namespace tally::server {

// The sections named by `words`, in any case, each once and in INFO's order; none is as "default".
// "all" and "everything" are every section. Unknown names give nothing.
std::string RenderInfo(Services& server, Args words);

}  // namespace tally::server
