// POST /api: commands as JSON, one or a batch; see server/http/http.md.
#pragma once

#include "server/http/http_message.h"

namespace tally::server {

HttpResponse RunApi(const HttpCall& call);

}  // namespace tally::server
