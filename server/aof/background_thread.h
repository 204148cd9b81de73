// A thread that does slow file operations, usually syncs, one after the other.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include "server/aof/background_worker.h"

namespace tally::server {

class BackgroundThread final : public BackgroundWorker {
 public:
  BackgroundThread() = default;
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
  ~BackgroundThread() override;

  // Creates the thread at the first call. If the system gives no thread (out of memory, or a
  // limit), runs the operation before it returns: slow, but no operation is lost.
  void StartAfter(int64_t delay_ms, Operation operation) override;
  void Hurry() override;
  bool begun() const override;
  size_t pending() const override { return pending_; }
  std::optional<Result> Poll() override;
  Result Wait() override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Task {
    Operation operation;
    Clock::time_point due;
    bool begun = false;
  };

  // Creates the thread if there is none; returns false if the system gives none.
  bool HasThread();
  void Run();
  void HurryLocked();
  Result TakeResult();

  size_t pending_ = 0;  // only for the owner
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;      // guarded by mutex_; those that have not ended
  std::deque<Result> results_;  // guarded by mutex_
  bool stopping_ = false;       // guarded by mutex_
  std::thread thread_;
};

}  // namespace tally::server
