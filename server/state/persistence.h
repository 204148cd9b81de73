// Saving and loading, as commands know it.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace tally::server {

// What metrics show of the files. Times are in microseconds, instants in unix ms.
struct PersistenceState {
  bool log_on = false;
  uint64_t log_bytes = 0;      // of the base and the logs after it
  uint64_t base_bytes = 0;     // of the base alone
  uint64_t pending_bytes = 0;  // that are not known to be on disk
  int64_t last_fsync_micros = 0;
  uint64_t delayed_fsyncs = 0;
  bool rewriting = false;
  double rewrite_done = 0;  // of the one under way: 0 to 1
  bool rewrite_failed = false;
  uint64_t rewrite_failures = 0;  // one after the other
  uint64_t saves = 0;
  int64_t last_save_ms = 0;
  double load_done = 1;
};

// The files, as commands see them.
class Persistence {
 public:
  // OK, or why no write is acknowledged at present.
  virtual const absl::Status& write_error() const = 0;
  // Begins a new base snapshot; fails when one is under way.
  virtual absl::Status StartRewrite() = 0;
  virtual bool rewriting() const = 0;
  // Whether snapshots are all that keeps the data, and the last one failed.
  virtual bool snapshot_failed() const = 0;
  // Writes everything before it returns.
  virtual absl::Status SaveNow() = 0;
  // The same where `save` asks for it and no log has it all: when the server ends.
  virtual absl::Status SaveAtEnd() = 0;
  // A whole database is about to be emptied, or two to be swapped: a snapshot under way follows.
  virtual void BeforeClear(size_t database) = 0;
  virtual void BeforeSwap(size_t one, size_t other) = 0;
  // CONFIG SET appendonly and appendfsync.
  virtual absl::Status ApplyConfig() = 0;
  // Drops the keyspace and reads it again from the files (DEBUG RELOAD and LOADAOF).
  virtual absl::Status Reload() = 0;
  // The rows of INFO persistence.
  virtual void AppendInfo(std::string& out) const = 0;
  virtual PersistenceState State() const { return {}; }
  virtual int64_t last_save_ms() const = 0;

 protected:
  ~Persistence() = default;
};

}  // namespace tally::server
