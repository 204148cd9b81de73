// The rows of INFO persistence.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <optional>
#include <string>

#include "server/aof/log_writer.h"
#include "server/durability/persistence_report.h"
#include "server/durability/rewrite_results.h"
#include "server/durability/rewriter.h"

namespace tally::server {

struct PersistenceFigures {
  std::optional<LoadingFigures> loading;
  bool rewriting = false;
  std::optional<Rewriter::Snapshot> kind;  // of what is being written
  int64_t rewriting_seconds = -1;
  std::optional<SavingFigures> saving;  // set from the begin of the snapshot on
  uint64_t changes_since_save = 0;
  uint64_t base_bytes = 0;
  uint64_t bytes_since_base = 0;
};

// How snapshots have ended: those of SAVE and BGSAVE, and those of BGREWRITEAOF. If both write a
// base, these are the same.
struct PersistenceResults {
  const RewriteResults& saves;
  const RewriteResults& rewrites;
};

// Appends the rows. `log` is null while the log is off.
void AppendPersistenceInfo(const PersistenceFigures& figures, const PersistenceResults& results,
                           const LogWriter* log, std::string& out);

}  // namespace tally::server
