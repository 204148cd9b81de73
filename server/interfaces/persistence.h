// Saving and loading the data, as commands see it.
#pragma once

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/interfaces/rdb_request.h"
#include "server/interfaces/stream_source.h"
#include "server/interfaces/sync_base.h"

namespace tally::server {

class FigureSink;

// The files, as commands see them.
class Persistence {
 public:
  // OK, or why no write is acknowledged at present.
  virtual const absl::Status& write_error() const = 0;
  // Whether writes may run: write_error() is OK, and no snapshot has failed that was needed
  // (stop-writes-on-bgsave-error). Is asked for each write.
  virtual bool accepts_writes() const = 0;
  // Begins to write a new base file. Fails while one is being written or the data is being loaded.
  virtual absl::Status StartRewrite() = 0;
  // The same for BGSAVE: a base, or an RDB if `rdb-format` says so.
  virtual absl::Status StartSave() = 0;
  virtual bool rewriting() const = 0;
  // Opens the base in force. NotFound unless it is known where in the stream it was begun, and
  // little was written since.
  virtual absl::StatusOr<SyncBase> OpenBase() const = 0;
  // Reads the stream of effects back from the logs. NotFound if they do not hold it from `offset`
  // on.
  virtual absl::StatusOr<std::unique_ptr<StreamSource>> OpenStream(uint64_t offset) const = 0;
  // Begins to write an RDB, as soon as no other snapshot is being written. Fails while the data is
  // being loaded.
  virtual absl::Status WriteRdb(RdbRequest request) = 0;
  // Opens an RDB that WriteRdb has written, for one who is sent it, and removes its name. It says
  // nothing of the stream.
  virtual absl::StatusOr<SyncBase> TakeRdb(const std::string& path) = 0;
  // Removes what a process that has died has left of such an RDB.
  virtual void RemoveRdb(const std::string& path) = 0;
  // As StartSave, but all data is written before it returns.
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
