#include "server/aof/unsynced_batches.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace tally::server {
namespace {

constexpr int64_t kSyncAfterMs = 500;   // the oldest batch waits this long for a sync
constexpr int64_t kWaitAfterMs = 1000;  // and this long before the next batch waits for it

}  // namespace

void UnsyncedBatches::Append(std::string_view batch, int64_t now_ms) {
  if (waiting_.empty()) waiting_since_ms_ = now_ms;
  waiting_.Append(batch);
}

void UnsyncedBatches::SyncStarted() {
  std::swap(syncing_, waiting_);
  syncing_since_ms_ = waiting_since_ms_;
}

void UnsyncedBatches::Clear() {
  syncing_.Clear();
  waiting_.Clear();
}

bool UnsyncedBatches::IsBehind(int64_t now_ms) const {
  if (size() == 0) return false;
  const int64_t oldest = syncing_.empty() ? waiting_since_ms_ : syncing_since_ms_;
  return now_ms - oldest >= kWaitAfterMs || size() > max_bytes_;
}

bool UnsyncedBatches::IsSyncDue(int64_t now_ms) const {
  if (waiting_.empty()) return false;
  return now_ms - waiting_since_ms_ >= kSyncAfterMs || waiting_.size() > max_bytes_ / 2;
}

std::string UnsyncedBatches::Joined() const {
  return absl::StrCat(syncing_.Joined(), waiting_.Joined());
}

}  // namespace tally::server
