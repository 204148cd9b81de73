// GET /metrics, for Prometheus.
#pragma once

#include "server/http/http_message.h"

namespace tally::server {

// In OpenMetrics for those who accept it, in the older text format for others.
HttpResponse Metrics(const HttpCall& call);

}  // namespace tally::server
