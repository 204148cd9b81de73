// The metrics of a server in the two forms that Prometheus reads: OpenMetrics 1.0, and the older
// text format 0.0.4 that its tools check. They differ in the names of counters and at the end.
// Labels are names of commands, policies, databases and the like, of which there are at most some
// thousands; never keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/interfaces/services.h"

namespace tally::server {

enum class MetricsFormat : uint8_t { kOpenMetrics, kText };

// Returns the format as a value of the Content-Type header.
std::string_view ContentTypeOf(MetricsFormat format);

// Returns all metrics. O(commands called + policies + databases): does not walk keys or clients.
std::string RenderMetrics(const Services& server, MetricsFormat format);

}  // namespace tally::server
