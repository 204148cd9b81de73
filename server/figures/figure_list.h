// The one list of all figures: in sections, which are those of INFO, in their order.
#pragma once

#include <span>
#include <string_view>

#include "server/figures/figure_sink.h"
#include "server/interfaces/services.h"

namespace tally::server {

struct FigureSection {
  std::string_view title;
  void (*report)(const Services& server, FigureSink& figures);
  bool by_default = true;  // for INFO without words
};
std::span<const FigureSection> FigureSections();

// process_figures.cc
void ReportServer(const Services& server, FigureSink& figures);
void ReportClients(const Services& server, FigureSink& figures);
void ReportMemory(const Services& server, FigureSink& figures);
void ReportCpu(const Services& server, FigureSink& figures);
// activity_figures.cc
void ReportPersistence(const Services& server, FigureSink& figures);
void ReportStats(const Services& server, FigureSink& figures);
void ReportReplication(const Services& server, FigureSink& figures);
void ReportCommandStats(const Services& server, FigureSink& figures);
void ReportErrorStats(const Services& server, FigureSink& figures);
void ReportLatencyStats(const Services& server, FigureSink& figures);
void ReportCluster(const Services& server, FigureSink& figures);
// loop_figures.cc
void ReportEventLoop(const Services& server, FigureSink& figures);
// data_figures.cc
void ReportLimits(const Services& server, FigureSink& figures);
void ReportKeyspace(const Services& server, FigureSink& figures);

}  // namespace tally::server
