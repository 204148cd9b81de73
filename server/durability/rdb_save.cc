#include "server/durability/rdb_save.h"

#include <utility>

#include "core/bytes/str_cat.h"
#include "server/config/version.h"

namespace tally::server {

RdbSave::RdbSave(const Parts& parts, FileSystem& files, RdbRequest request, bool compresses,
                 uint64_t epoch)
    : SnapshotJob(parts, epoch),
      files_(files),
      request_(std::move(request)),
      compresses_(compresses),
      temporary_(TemporaryOf(request_.path)) {}

absl::Status RdbSave::OpenFiles() {
  auto file = files_.Create(temporary_);
  if (!file.ok()) return file.status();
  new_file_ = std::move(*file);
  return absl::OkStatus();
}

absl::Status RdbSave::BeginWriting() {
  target_ = std::make_unique<Target>(files_, std::move(new_file_));
  emitter_ = std::make_unique<rdb::RdbEmitter>(
      parts().engine,
      rdb::RdbOptions{.version = kRedisVersion,
                      .now_ms = parts().clock.now_ms(),
                      .compress_most = compresses_ ? rdb::kCompressedInSlices : 0},
      *target_);
  parts().report.RdbBegins(request_.path);
  if (request_.begun) request_.begun();
  return absl::OkStatus();
}

absl::Status RdbSave::EndWriting() {
  absl::Status status = emitter_->Finish();
  return status.ok() ? target_->file().Finish() : status;
}

absl::Status RdbSave::Publish() {
  absl::Status status = files_.Rename(temporary_, request_.path);
  if (status.ok()) status = files_.SyncDirectory(FolderOf(request_.path));
  if (status.ok() && request_.then) status = request_.then();
  return status;
}

void RdbSave::Remove() {
  emitter_ = nullptr;
  target_ = nullptr;
  new_file_ = nullptr;
  // What cannot be removed now is written over by the next try.
  files_.Remove(temporary_).IgnoreError();
}

void RdbSave::Settle(const absl::Status& status, uint64_t failures_before) {
  if (status.ok()) {
    const int64_t took_ms = parts().clock.steady_ms() - started_steady_ms();
    parts().report.RdbDone(keys_total(), file().bytes(), took_ms, failures_before);
  }
  if (request_.done) request_.done(status);
}

}  // namespace tally::server
