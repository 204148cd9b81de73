// The metrics of a server, as Prometheus scrapes them. Labels are names of commands, policies,
// databases and the like, of which there are at most some thousands; never keys.
#pragma once

#include <string>

#include "server/info/server_figures.h"
#include "server/metrics/metrics_writer.h"

namespace tally::server {

// Appends all metrics to `out`. O(commands called + policies + databases): does not walk keys or
// clients.
void WriteMetrics(const ServerFigures& server, MetricsFormat format, std::string& out);

}  // namespace tally::server
