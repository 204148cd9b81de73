// One thread that does one slow file operation at a time, a sync mostly, so that the event loop
// does not wait for the disk.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "absl/status/status.h"
#include "server/aof/file_system.h"

namespace tally::server {

// All methods are for the one thread that owns the worker.
class FsyncWorker {
 public:
  struct Result {
    absl::Status status;
    int64_t duration_us = 0;
  };

  FsyncWorker() = default;
  FsyncWorker(const FsyncWorker&) = delete;
  FsyncWorker& operator=(const FsyncWorker&) = delete;
  // Waits for a running operation.
  ~FsyncWorker();

  // Starts the operation. Requires !busy(); what it uses must stay until the result is taken. The
  // thread is created at the first call.
  void Start(std::function<absl::Status()> operation);
  // Starts file->Sync().
  void Start(File* file) {
    Start([file] { return file->Sync(); });
  }
  // True from Start until the result is taken by Poll or Wait.
  bool busy() const { return busy_; }
  // The result of the operation, if it has ended. Requires busy().
  std::optional<Result> Poll();
  // The same, waiting for it. Requires busy().
  Result Wait();

 private:
  void Run();
  Result TakeResult();

  bool busy_ = false;  // the owner's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<absl::Status()> operation_;  // guarded by mutex_
  std::optional<Result> result_;             // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::thread thread_;
};

}  // namespace tally::server
