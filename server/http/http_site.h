// What all HTTP connections of a server share.
#pragma once

#include <cstddef>
#include <span>

#include "server/http/event_streams.h"
#include "server/http/http_response.h"
#include "server/http/route.h"

namespace tally::server {

struct HttpSite {
  // `table_of_routes` and the clients outlive it.
  HttpSite(std::span<const Route> table_of_routes, ClientTable& clients)
      : routes(table_of_routes), events(clients) {}

  const std::span<const Route> routes;
  EventStreams events;
  HttpDate date;
  size_t sessions = 0;  // that there are; HttpSession counts itself
};

}  // namespace tally::server
