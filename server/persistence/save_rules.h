// When a snapshot or a rewrite is due that nobody asks for: by the rules of `save`, and by the
// growth of the log.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/config/config.h"
#include "server/persistence/rewrite_results.h"

namespace tally::server {

class SaveRules {
 public:
  explicit SaveRules(const Config& config) : config_(config) {}

  struct Log {
    size_t files = 0;
    uint64_t base_bytes = 0;
    uint64_t bytes_since_base = 0;
  };

  // Whether a rule of `save` asks for a snapshot. `steady_ms` is of the clock of the results.
  bool SnapshotIsDue(const RewriteResults& results, bool log_is_on, uint64_t changes,
                     int64_t steady_ms) const;
  // Whether the log, which is on, has grown so much that it is to be rewritten.
  bool RewriteIsDue(const RewriteResults& results, const Log& log, int64_t steady_ms) const;

  // Whether snapshots are all that keeps the data.
  bool OnlySnapshotsKeep(bool log_is_on) const;

 private:
  const Config& config_;
};

}  // namespace tally::server
