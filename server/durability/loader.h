// Loads the files into the engine in slices: adds the records of the base, runs the commands of the
// logs again, and makes what values keep beside what is saved.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/engine/engine.h"
#include "server/aof/aof_loader.h"
#include "server/command/command_table.h"
#include "server/durability/data_files.h"
#include "server/durability/log_notes.h"
#include "server/durability/persistence_report.h"
#include "server/durability/progress.h"
#include "server/durability/redis_loader.h"
#include "server/durability/stream_note.h"
#include "server/interfaces/command_runner.h"
#include "server/state/client.h"
#include "server/state/clock.h"

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

  // Who reads the notes of the logs; null: they are left out.
  void set_notes(LogNotes* notes) { notes_ = notes; }
  // Begins to load. The directory must be open. `load_truncated` is aof-load-truncated. Keys do not
  // expire until all is loaded.
  absl::Status Begin(bool load_truncated);
  // The same for files of Redis. `redis` must live until all is loaded.
  void BeginRedis(RedisLoader& redis);
  // The same for a base that another server has made.
  void BeginBase(std::unique_ptr<BaseReader> base);
  bool loading() const { return files_ != nullptr || redis_ != nullptr || base_ != nullptr; }
  // Where the log continues after the loaded data; see LogWriter::Open.
  struct End {
    LogPosition position;
    uint64_t synced = 0;
  };
  // Loads for about `budget_us`. Returns the end when all is loaded, before that nullopt. After the
  // end or an error loading() is false.
  absl::StatusOr<std::optional<End>> LoadSlice(int64_t budget_us);

  // What the logs said of the stream of effects: where in it the base is, and where they end;
  // nullopt if they said nothing.
  struct Stream {
    uint64_t begin = 0;
    StreamNote end;
  };
  const std::optional<Stream>& stream() const { return stream_; }

  // Requires loading().
  LoadingFigures figures() const;

 private:
  void Start();
  absl::StatusOr<bool> LoadSome(int64_t budget_us);
  absl::StatusOr<bool> Step();
  End Finish(bool complete);
  absl::Status Replay(Args args);
  absl::Status TakeNote(Args args);
  void CountFiles() const;

  const Parts parts_;
  std::unique_ptr<AofLoader> files_;  // null unless loading files of our own
  RedisLoader* redis_ = nullptr;      // null unless loading files of Redis
  std::unique_ptr<BaseReader> base_;  // null unless loading one of another server
  LogNotes* notes_ = nullptr;
  std::unique_ptr<Client> client_;  // runs the commands of our logs; null unless loading them
  std::optional<Stream> stream_;
  bool is_read_ = false;  // all files are; what values keep beside them is being made
  Engine::Prepared prepared_;
  Expiry expiry_after_ = Expiry::kRemove;  // what was in force before the load
  std::optional<Progress> progress_;
  int64_t started_ms_ = 0;
};

}  // namespace tally::server
