// A thread that does one slow file operation at a time, usually a sync.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "server/aof/background_worker.h"

namespace tally::server {

class FsyncWorker final : public BackgroundWorker {
 public:
  FsyncWorker() = default;
  FsyncWorker(const FsyncWorker&) = delete;
  FsyncWorker& operator=(const FsyncWorker&) = delete;
  ~FsyncWorker() override;

  // Creates the thread at the first call. If the system gives no thread (out of memory, or a
  // limit), runs the operation before it returns: slow, but no operation is lost.
  void Start(std::function<absl::Status()> operation) override;
  bool busy() const override { return busy_; }
  std::optional<Result> Poll() override;
  Result Wait() override;

 private:
  // Creates the thread if there is none; returns false if the system gives none.
  bool HasThread();
  void Run();
  Result TakeResult();

  bool busy_ = false;  // only for the owner
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<absl::Status()> operation_;  // guarded by mutex_
  std::optional<Result> result_;             // guarded by mutex_
  bool stopping_ = false;                    // guarded by mutex_
  std::thread thread_;
};

}  // namespace tally::server
