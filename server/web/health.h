// GET /healthz and /readyz, for whatever supervises the process or sends traffic to it.
#pragma once

#include "server/http/http_message.h"

namespace tally::server {

// 200 while the loop turns, whatever else is wrong.
HttpResponse Health(const HttpCall& call);
// 200, or 503 while the data is loaded, and while the disk takes nothing so that writes are
// refused.
HttpResponse Readiness(const HttpCall& call);

}  // namespace tally::server
