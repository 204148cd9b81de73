// The metrics in groups: each group is about one part of the server.
#pragma once

#include <array>
#include <cstdint>

#include "server/figures/metrics_writer.h"
#include "server/interfaces/services.h"

namespace tally::server {

// The upper bounds of the buckets of all durations, in microseconds.
inline constexpr std::array<uint64_t, 14> kDurationBounds = {
    4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16'384, 65'536, 262'144, 1'048'576};

// process_metrics.cc
void WriteProcessMetrics(const Services& server,
                         MetricsWriter& writer);  // version, clients, network
void WriteMemoryMetrics(const Services& server, MetricsWriter& writer);
// data_metrics.cc
void WriteKeyspaceMetrics(const Services& server, MetricsWriter& writer);
void WritePersistenceMetrics(const Services& server, MetricsWriter& writer);
// activity_metrics.cc
void WriteLoopMetrics(const Services& server, MetricsWriter& writer);
void WriteDecisionMetrics(const Services& server, MetricsWriter& writer);
void WriteCommandMetrics(const Services& server, MetricsWriter& writer);

}  // namespace tally::server
