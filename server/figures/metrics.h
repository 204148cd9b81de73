// The metrics of a server, as Prometheus scrapes them. Labels are names of commands, policies,
// databases and the like, of which there are at most some thousands; never keys.
#pragma once

#include <string>

#include "server/figures/metrics_writer.h"
#include "server/interfaces/services.h"

namespace tally::server {

// Appends all metrics to `out`. O(commands called + policies + databases): does not walk keys or
// clients.
void WriteMetrics(const Services& server, MetricsFormat format, std::string& out);

}  // namespace tally::server
