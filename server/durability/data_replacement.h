// Replaces all data of a server that runs by what another one has sent: loads the file, and has a
// base of it written. Until that is in place the files on disk are those of the old data.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>

#include "server/durability/effect_log.h"
#include "server/durability/loader.h"
#include "server/durability/move_options.h"
#include "server/durability/redis_loader.h"
#include "server/durability/rewriter.h"
#include "server/interfaces/services.h"

namespace tally::server {

class DataReplacement {
 public:
  struct Parts {
    Services& server;
    DataFiles& files;
    EffectLog& log;
    Loader& loader;
    Rewriter& rewriter;
  };
  explicit DataReplacement(const Parts& parts) : parts_(parts) {}

  // Drops the data, and begins to load an RDB, or a base of another tallyd. The log takes nothing
  // until all is in place.
  absl::Status Begin(const std::string& path, const MoveOptions& options);
  bool running() const { return stage_ != Stage::kIdle; }
  // Continues for about `budget_us`. A base that cannot be written is tried again.
  void Slice(int64_t budget_us);
  // When nothing is running any more: OK, or why the new data could not be loaded. Then the old
  // data was loaded again from its files; without a log there is none.
  const absl::Status& result() const { return result_; }

 private:
  enum class Stage : uint8_t { kIdle, kLoading, kWriting, kRestoring };

  absl::Status BeginBase(const std::string& path);
  absl::Status DropData();
  void Load(int64_t budget_us);
  void Restore();
  void Write(int64_t budget_us);
  void Finish();

  const Parts parts_;
  Stage stage_ = Stage::kIdle;
  absl::Status result_;
  uint64_t saves_before_ = 0;           // before the base was begun
  std::unique_ptr<RedisLoader> redis_;  // null unless loading
};

}  // namespace tally::server
