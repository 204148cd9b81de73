// What the files report as figures.
#pragma once

#include <cstdint>
#include <optional>

#include "server/aof/log_writer.h"
#include "server/durability/persistence_report.h"
#include "server/durability/rewrite_results.h"
#include "server/figures/figure_sink.h"

namespace tally::server {

struct PersistenceFigures {
  int64_t now_ms = 0;         // unix ms
  int64_t last_fsync_ms = 0;  // unix ms at which the end of the last sync was seen; 0: never
  std::optional<LoadingFigures> loading;
  bool rewriting = false;
  int64_t rewriting_seconds = -1;
  std::optional<SavingFigures> saving;  // set from the begin of the snapshot on
  uint64_t changes_since_save = 0;
  uint64_t base_bytes = 0;
  uint64_t bytes_since_base = 0;
};

// `log` is null while the log is off.
void ReportFiles(const PersistenceFigures& files, const RewriteResults& results,
                 const LogWriter* log, FigureSink& figures);

}  // namespace tally::server
