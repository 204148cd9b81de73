// Saving and loading the data, as commands see it.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tally::server {

// What metrics show about the files. Durations are in microseconds, instants in unix ms.
struct PersistenceState {
  bool log_on = false;
  uint64_t log_bytes = 0;      // of the base file and the logs after it
  uint64_t base_bytes = 0;     // of the base file alone
  uint64_t pending_bytes = 0;  // of the log, not known to be on disk yet
  int64_t last_fsync_ms = 0;   // when the end of the last sync was seen; 0: never
  int64_t last_fsync_micros = 0;
  uint64_t delayed_fsyncs = 0;
  bool rewriting = false;
  double rewrite_done = 0;  // share of the rewrite under way, 0 to 1
  bool rewrite_failed = false;
  uint64_t rewrite_failures = 0;  // since the last success
  uint64_t saves = 0;
  int64_t last_save_ms = 0;
  double load_done = 1;
};

// The files, as commands see them.
class Persistence {
 public:
  // OK, or why no write is acknowledged at present.
  virtual const absl::Status& write_error() const = 0;
  // Begins to write a new base file. Fails while one is being written or the data is being loaded.
  virtual absl::Status StartRewrite() = 0;
  virtual bool rewriting() const = 0;
  // Whether the data is kept by snapshots only, without a log, and the last snapshot failed.
  virtual bool snapshot_failed() const = 0;
  // Writes all data before it returns.
  virtual absl::Status SaveNow() = 0;
  // As SaveNow, for the end of the server. Does nothing if `save` asks for no snapshots or a log
  // has all data.
  virtual absl::Status SaveAtEnd() = 0;
  // CONFIG SET appendonly and appendfsync.
  virtual absl::Status ApplyConfig() = 0;
  // Saves, and reads all data again from the files (DEBUG RELOAD and LOADAOF). If that fails, the
  // data is as before.
  virtual absl::Status Reload() = 0;
  // Appends the rows of INFO persistence.
  virtual void AppendInfo(std::string& out) const = 0;
  virtual PersistenceState State() const { return {}; }
  virtual int64_t last_save_ms() const = 0;

 protected:
  ~Persistence() = default;
};

}  // namespace tally::server
