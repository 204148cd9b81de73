// GET /healthz and /readyz, for whatever supervises the process or sends traffic to it.
#pragma once

#include "server/http/http_message.h"

namespace tally::server {

// Returns 200 as long as the event loop runs, whatever else is wrong.
HttpResponse Health(const HttpCall& call);
// Returns 200, or 503 while the data is being loaded, while a script keeps all others waiting, and
// while writes are refused because the files cannot be written.
HttpResponse Readiness(const HttpCall& call);

}  // namespace tally::server
