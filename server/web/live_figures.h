// GET /events: what the page shows live, as server-sent events. GET /history: what it draws of the
// past.
#pragma once

#include <string>
#include <string_view>

#include "server/http/http_message.h"
#include "server/interfaces/services.h"

namespace tally::server {

// The name of the event that is published once a second.
inline constexpr std::string_view kLiveEvent = "figures";

// Returns the data of that event: a JSON object on one line.
std::string LiveFigures(const Services& server);

// Returns the response after which the connection gets the events.
HttpResponse OpenEvents(const HttpCall& call);
// The last hour, see FigureHistory.
HttpResponse Past(const HttpCall& call);

}  // namespace tally::server
