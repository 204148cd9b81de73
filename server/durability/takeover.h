// Takes over the data of Redis when the server starts: loads its files, writes a base of our own
// beside them, puts that in place, and gives the old files other names. Until the base is in place
// the old files are as they were, and the next start begins again.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>

#include "server/durability/data_files.h"
#include "server/durability/loader.h"
#include "server/durability/move_options.h"
#include "server/durability/persistence_report.h"
#include "server/durability/redis_loader.h"
#include "server/durability/rewriter.h"
#include "server/interfaces/services.h"

namespace tally::server {

class Takeover {
 public:
  struct Parts {
    Services& server;
    DataFiles& files;
    Loader& loader;
    Rewriter& rewriter;
    const PersistenceReport& report;
  };
  explicit Takeover(const Parts& parts) : parts_(parts) {}

  // Begins if there is data of Redis to take over. Ends first what a crash has interrupted.
  absl::Status Begin(const MoveOptions& options);
  bool running() const { return stage_ != Stage::kIdle; }
  // Continues for about `budget_us`. Returns true when all is in place; nothing is running after
  // that and after an error.
  absl::StatusOr<bool> Slice(int64_t budget_us);

 private:
  enum class Stage : uint8_t { kIdle, kLoading, kWriting };

  absl::Status FinishEarlier();
  absl::StatusOr<std::optional<RedisFiles>> FilesToTake() const;
  absl::Status Load(int64_t budget_us);
  absl::Status Write(int64_t budget_us);
  // What has no type here stops the start, unless it is to be skipped.
  absl::Status JudgeSkipped() const;
  absl::Status PutInPlace();

  const Parts parts_;
  MoveOptions options_;
  Stage stage_ = Stage::kIdle;
  std::unique_ptr<RedisLoader> redis_;  // null unless running
};

}  // namespace tally::server
