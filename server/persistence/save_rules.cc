// Snapshots by the rules of `save`.
#include <algorithm>

#include "server/config/config.h"
#include "server/persistence/aof_persistence.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

// After one that failed, as Redis, where writes are refused meanwhile.
constexpr int64_t kRetryMs = 5000;

}  // namespace

bool AofPersistence::SnapshotIsDue() const {
  if (rewrite_ != nullptr || loading_ != nullptr || !write_error().ok()) return false;
  const int64_t now = server_.clock.steady_ms();
  const bool may_retry =
      snapshot_failed() ? now - last_failure_steady_ms_ >= kRetryMs : rewrite_pause_.IsDue(now);
  if (!may_retry) return false;
  const int64_t elapsed = now - last_save_steady_ms_;
  const std::vector<SaveRule> rules = SaveRulesOf(server_.config);
  return std::any_of(rules.begin(), rules.end(), [&](const SaveRule& rule) {
    return elapsed / 1000 >= rule.seconds &&
           server_.stats.changes_since_save >= static_cast<uint64_t>(rule.changes);
  });
}

bool AofPersistence::snapshot_failed() const {
  return !last_rewrite_.ok() && writer_ == nullptr && !SaveRulesOf(server_.config).empty();
}

absl::Status AofPersistence::SaveAtEnd() {
  const bool kept = writer_ != nullptr || loading_ != nullptr;
  return kept || SaveRulesOf(server_.config).empty() ? absl::OkStatus() : SaveNow();
}

}  // namespace tally::server
