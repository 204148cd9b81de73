// One RDB, written while the server serves: to a temporary file beside the one that it replaces.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/aof/file_system.h"
#include "server/durability/snapshot_job.h"
#include "server/interfaces/rdb_request.h"
#include "server/rdb/rdb_emitter.h"

namespace tally::server {

class RdbSave final : public SnapshotJob {
 public:
  // Where it is written until it is complete.
  static std::string TemporaryOf(const std::string& path) { return path + ".temp"; }

  RdbSave(const Parts& parts, FileSystem& files, RdbRequest request, bool compresses,
          uint64_t epoch);

  void Settle(const absl::Status& status, uint64_t failures_before) override;

 private:
  // Gives what the emitter writes to the file.
  class Target final : public rdb::ByteTarget {
   public:
    Target(FileSystem& files, std::unique_ptr<File> file)
        : file_(files, std::move(file), QueuedFile::Options()) {}
    absl::Status Append(std::string_view bytes) override {
      if (file_.IsFull()) file_.WaitWhileThrottled();
      return file_.Append(bytes);
    }
    QueuedFile& file() { return file_; }

   private:
    QueuedFile file_;
  };

  absl::Status OpenFiles() override;
  absl::Status Publish() override;
  void Remove() override;
  absl::Status BeginWriting() override;
  SnapshotEmitter& emitter() override { return *emitter_; }
  QueuedFile& file() override { return target_->file(); }
  absl::Status EndWriting() override;

  FileSystem& files_;
  const RdbRequest request_;
  const bool compresses_;
  const std::string temporary_;
  std::unique_ptr<File> new_file_;
  std::unique_ptr<Target> target_;
  std::unique_ptr<rdb::RdbEmitter> emitter_;
};

}  // namespace tally::server
