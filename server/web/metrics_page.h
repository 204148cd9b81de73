// GET /metrics, for Prometheus.
#pragma once

#include "server/http/http_message.h"

namespace tally::server {

// Answers in OpenMetrics if the request accepts that, otherwise in the older text format.
HttpResponse Metrics(const HttpCall& call);

}  // namespace tally::server
