// What the server serves over HTTP.
#pragma once

#include <span>

#include "server/http/route.h"

namespace tally::server {

// A request is answered by the first row whose path and methods fit it.
std::span<const Route> Routes();

}  // namespace tally::server
