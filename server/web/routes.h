// What the server serves over HTTP.
#pragma once

#include <span>

#include "server/http/route.h"

namespace tally::server {

// The first row that fits a path and a method answers it.
std::span<const Route> Routes();

}  // namespace tally::server
