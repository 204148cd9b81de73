#include "server/durability/save_rules.h"

#include <algorithm>
#include <vector>

namespace tally::server {
namespace {

// The pause after a failed snapshot if writes are refused meanwhile, as in Redis.
constexpr int64_t kRetryMs = 5000;
// If there are more logs than this, they are rewritten however small they are: each recovery from a
// failed sync may add a log, and the manifest lists them all.
constexpr size_t kMostLogs = 64;

}  // namespace

bool SaveRules::SnapshotIsDue(const RewriteResults& results, bool log_is_on, uint64_t changes,
                              int64_t steady_ms) const {
  const bool refuses_writes = !results.last.ok() && OnlySnapshotsKeep(log_is_on);
  const bool may_retry = refuses_writes ? steady_ms - results.last_failure_steady_ms >= kRetryMs
                                        : results.pause.IsDue(steady_ms);
  if (!may_retry) return false;
  const int64_t elapsed_ms = steady_ms - results.last_save_steady_ms;
  const std::vector<SaveRule> rules = SaveRulesOf(config_);
  return std::any_of(rules.begin(), rules.end(), [&](const SaveRule& rule) {
    return elapsed_ms / 1000 >= rule.seconds && changes >= static_cast<uint64_t>(rule.changes);
  });
}

bool SaveRules::RewriteIsDue(const RewriteResults& results, const Log& log,
                             int64_t steady_ms) const {
  if (!results.pause.IsDue(steady_ms)) return false;
  if (log.files > kMostLogs) return true;
  if (config_.auto_aof_rewrite_percentage == 0) return false;
  return log.bytes_since_base >= static_cast<uint64_t>(config_.auto_aof_rewrite_min_size) &&
         // A product of integers could overflow.
         static_cast<double>(log.bytes_since_base) * 100 >=
             static_cast<double>(log.base_bytes) *
                 static_cast<double>(config_.auto_aof_rewrite_percentage);
}

bool SaveRules::OnlySnapshotsKeep(bool log_is_on) const {
  return !log_is_on && !SaveRulesOf(config_).empty();
}

}  // namespace tally::server
