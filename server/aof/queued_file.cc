#include "server/aof/queued_file.h"

#include <utility>

#include "core/base/check.h"
#include "core/bytes/recycle.h"

namespace tally::server {
namespace {

// The buffer of the bytes being written is freed once it has grown beyond this many syncs' bytes.
constexpr size_t kMostKeptSyncs = 8;

}  // namespace

absl::Status QueuedFile::Append(std::string_view bytes) {
  Check(!finished_, "a file is appended to before it is finished");
  queued_.append(bytes);
  bytes_ += bytes.size();
  return Advance();
}

absl::Status QueuedFile::Finish(std::string_view last) {
  Check(!finished_, "a file is finished once");
  finished_ = true;
  queued_.append(last);
  bytes_ += last.size();
  return Advance();
}

absl::Status QueuedFile::Advance() {
  if (worker_->busy()) {
    auto result = worker_->Poll();
    if (!result.has_value()) return status_;
    if (status_.ok()) status_ = std::move(result->status);
  }
  StartWriting();
  return status_;
}

void QueuedFile::StartWriting() {
  const bool only_sync = finished_ && unsynced_bytes_ > 0;
  if (!status_.ok() || (queued_.empty() && !only_sync)) return;
  Recycle(writing_, kMostKeptSyncs * options_.sync_bytes);
  writing_.swap(queued_);
  unsynced_bytes_ += writing_.size();
  const bool sync = finished_ || unsynced_bytes_ >= options_.sync_bytes;
  if (sync) unsynced_bytes_ = 0;
  const uint64_t from = sync ? std::exchange(dropped_bytes_, bytes_) : 0;
  worker_->Start([this, sync, from, to = bytes_] {
    absl::Status status = AppendAll(*file_, writing_);
    if (status.ok() && sync) status = file_->Sync();
    // The page cache would keep what nobody is going to read soon.
    if (sync) file_->DropCached(from, to);
    return status;
  });
}

bool QueuedFile::Throttled() {
  return queued_.size() >= options_.sync_bytes && Advance().ok() &&
         queued_.size() >= options_.sync_bytes;
}

void QueuedFile::WaitWhileThrottled() {
  while (Throttled()) {
    status_ = worker_->Wait().status;
    StartWriting();
  }
}

absl::StatusOr<bool> QueuedFile::PollSynced() {
  Check(finished_, "the final sync follows Finish");
  if (absl::Status status = Advance(); !status.ok()) return status;
  return !worker_->busy();
}

absl::Status QueuedFile::WaitSynced() {
  while (true) {
    const auto synced = PollSynced();
    if (!synced.ok()) return synced.status();
    if (*synced) return absl::OkStatus();
    status_ = worker_->Wait().status;
  }
}

}  // namespace tally::server
