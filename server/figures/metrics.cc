#include "server/figures/metrics.h"

#include "server/figures/metric_groups.h"

namespace tally::server {

void WriteMetrics(const Services& server, MetricsFormat format, std::string& out) {
  MetricsWriter writer(format, out);
  WriteProcessMetrics(server, writer);
  WriteMemoryMetrics(server, writer);
  WriteKeyspaceMetrics(server, writer);
  WritePersistenceMetrics(server, writer);
  WriteLoopMetrics(server, writer);
  WriteDecisionMetrics(server, writer);
  WriteCommandMetrics(server, writer);
  writer.End();
}

}  // namespace tally::server
