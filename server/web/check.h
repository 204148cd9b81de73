// GET and POST /check/<policy> and /check?take=<policy>: one decision of LIMIT.TAKE by status and
// headers, for proxies that ask before they let a request through; see server/http/http.md.
#pragma once

#include "server/http/http_message.h"

namespace tally::server {

HttpResponse CheckLimit(const HttpCall& call);

}  // namespace tally::server
