#include "server/figures/figure_list.h"

namespace tally::server {
namespace {

constexpr FigureSection kSections[] = {
    {"Server", ReportServer},
    {"Clients", ReportClients},
    {"Memory", ReportMemory},
    {"Persistence", ReportPersistence},
    {"Stats", ReportStats},
    {"Replication", ReportReplication},
    {"CPU", ReportCpu},
    {"Modules", [](const Services&, FigureSink&) {}},
    {"Commandstats", ReportCommandStats, false},
    {"Errorstats", ReportErrorStats},
    {"Latencystats", ReportLatencyStats, false},
    {"Cluster", ReportCluster},
    {"Limits", ReportLimits, false},
    {"Eventloop", ReportEventLoop, false},
    {"Keyspace", ReportKeyspace},
};

}  // namespace

std::span<const FigureSection> FigureSections() { return kSections; }

}  // namespace tally::server
