// Loads the files into the engine in slices: the records of the base, and the commands of the logs,
// which are run again.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/engine/engine.h"
#include "server/aof/aof_loader.h"
#include "server/command/command_table.h"
#include "server/persistence/data_files.h"
#include "server/persistence/persistence_report.h"
#include "server/persistence/progress.h"
#include "server/state/client.h"
#include "server/state/clock.h"
#include "server/state/command_runner.h"

namespace tally::server {

class Loader {
 public:
  struct Parts {
    Engine& engine;
    const Clock& clock;
    const CommandTable& commands;
    CommandRunner& runner;
    DataFiles& files;
    const PersistenceReport& report;
  };
  explicit Loader(const Parts& parts) : parts_(parts) {}

  // The directory is open. `load_truncated` is aof-load-truncated. Keys do not expire until all is
  // loaded.
  absl::Status Begin(bool load_truncated);
  bool loading() const { return files_ != nullptr; }
  // Where the log goes on after what was loaded; see LogWriter::Open.
  struct End {
    LogPosition position;
    uint64_t synced = 0;
  };
  // Loads for about `budget_us`. The end, when all is loaded; after that, or after an error, it is
  // not loading any more.
  absl::StatusOr<std::optional<End>> LoadSlice(int64_t budget_us);

  // Reads all files to their ends, and loads nothing.
  absl::Status Examine(bool load_truncated) const;

  // Only while loading.
  LoadingFigures figures() const;

 private:
  absl::StatusOr<bool> LoadSome(int64_t budget_us);
  absl::Status Replay(Args args);
  void CountFiles() const;

  const Parts parts_;
  std::unique_ptr<AofLoader> files_;  // null when all is loaded
  std::unique_ptr<Client> client_;    // who runs what the logs hold
  std::optional<Progress> progress_;
  int64_t started_ms_ = 0;
};

}  // namespace tally::server
