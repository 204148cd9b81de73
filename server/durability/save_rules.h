// Decides when an automatic snapshot or rewrite is due: by the rules of `save`, and by the growth
// of the log.
#pragma once

#include <cstddef>
#include <cstdint>

#include "server/config/config.h"
#include "server/durability/rewrite_results.h"

namespace tally::server {

class SaveRules {
 public:
  explicit SaveRules(const Config& config) : config_(config) {}

  struct Log {
    size_t files = 0;
    uint64_t base_bytes = 0;
    uint64_t bytes_since_base = 0;
  };

  // Whether a rule of `save` asks for a snapshot. `steady_ms` is now, by the steady clock of
  // `results`.
  bool SnapshotIsDue(const RewriteResults& results, bool log_is_on, uint64_t changes,
                     int64_t steady_ms) const;
  // Whether the log has grown so much that it must be rewritten. Requires that the log is on.
  bool RewriteIsDue(const RewriteResults& results, const Log& log, int64_t steady_ms) const;

  // Whether only snapshots keep the data: the log is off and `save` has rules.
  bool OnlySnapshotsKeep(bool log_is_on) const;

 private:
  const Config& config_;
};

}  // namespace tally::server
