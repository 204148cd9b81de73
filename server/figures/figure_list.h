// The one list of all figures: in sections, which are those of INFO, in their order.
#pragma once

#include <span>
#include <string_view>

#include "server/figures/figure_sink.h"
#include "server/figures/server_figures.h"

namespace tally::server {

struct FigureSection {
  std::string_view title;
  void (*report)(const ServerFigures& server, FigureSink& figures);
  bool by_default = true;  // for INFO without words
};
std::span<const FigureSection> FigureSections();

// process_figures.cc
void ReportServer(const ServerFigures& server, FigureSink& figures);
void ReportClients(const ServerFigures& server, FigureSink& figures);
void ReportMemory(const ServerFigures& server, FigureSink& figures);
void ReportCpu(const ServerFigures& server, FigureSink& figures);
// activity_figures.cc
void ReportPersistence(const ServerFigures& server, FigureSink& figures);
void ReportStats(const ServerFigures& server, FigureSink& figures);
void ReportReplication(const ServerFigures& server, FigureSink& figures);
void ReportCommandStats(const ServerFigures& server, FigureSink& figures);
void ReportErrorStats(const ServerFigures& server, FigureSink& figures);
void ReportLatencyStats(const ServerFigures& server, FigureSink& figures);
void ReportCluster(const ServerFigures& server, FigureSink& figures);
// loop_figures.cc
void ReportEventLoop(const ServerFigures& server, FigureSink& figures);
// data_figures.cc
void ReportLimits(const ServerFigures& server, FigureSink& figures);
void ReportKeyspace(const ServerFigures& server, FigureSink& figures);

}  // namespace tally::server
