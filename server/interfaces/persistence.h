// Saving and loading the data, as commands see it.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tally::server {

class FigureSink;

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
  // Reports how loading, saving and the log stand.
  virtual void Report(FigureSink& figures) const = 0;
  virtual int64_t last_save_ms() const = 0;

 protected:
  ~Persistence() = default;
};

}  // namespace tally::server
