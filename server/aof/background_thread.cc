#include "server/aof/background_thread.h"

#include <system_error>
#include <utility>

#include "core/base/check.h"

namespace tally::server {
namespace {

BackgroundWorker::Result Timed(const BackgroundWorker::Operation& operation) {
  const auto begin = std::chrono::steady_clock::now();
  absl::Status status = operation();
  const auto took = std::chrono::steady_clock::now() - begin;
  return {std::move(status), std::chrono::duration_cast<std::chrono::microseconds>(took).count()};
}

}  // namespace

BackgroundThread::~BackgroundThread() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    HurryLocked();
  }
  thread_.join();
}

void BackgroundThread::StartAfter(int64_t delay_ms, Operation operation) {
  ++pending_;
  if (!HasThread()) {
    results_.push_back(Timed(operation));
    return;
  }
  const Clock::time_point due = Clock::now() + std::chrono::milliseconds(delay_ms);
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back({std::move(operation), due});
  }
  changed_.notify_all();
}

bool BackgroundThread::HasThread() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

void BackgroundThread::Hurry() {
  const std::lock_guard lock(mutex_);
  HurryLocked();
}

// The first one has begun now: nothing can delay it any more.
void BackgroundThread::HurryLocked() {
  for (Task& task : tasks_) task.due = Clock::time_point::min();
  if (!tasks_.empty()) tasks_.front().begun = true;
  changed_.notify_all();
}

bool BackgroundThread::begun() const {
  const std::lock_guard lock(mutex_);
  return tasks_.empty() || tasks_.back().begun;
}

std::optional<BackgroundThread::Result> BackgroundThread::Poll() {
  Check(busy(), "an operation was started");
  const std::lock_guard lock(mutex_);
  if (results_.empty()) return std::nullopt;
  return TakeResult();
}

BackgroundThread::Result BackgroundThread::Wait() {
  Check(busy(), "an operation was started");
  std::unique_lock lock(mutex_);
  if (results_.empty()) HurryLocked();
  changed_.wait(lock, [this] { return !results_.empty(); });
  return TakeResult();
}

BackgroundThread::Result BackgroundThread::TakeResult() {
  Result result = std::move(results_.front());
  results_.pop_front();
  --pending_;
  return result;
}

void BackgroundThread::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    // An operation that was started is run even if the thread is to stop, because its bytes were
    // promised.
    if (tasks_.empty() && stopping_) return;
    if (tasks_.empty()) {
      changed_.wait(lock);
      continue;
    }
    Task& next = tasks_.front();
    if (!next.begun && Clock::now() < next.due) {
      const Clock::time_point due = next.due;
      changed_.wait_until(lock, due);
      continue;
    }
    next.begun = true;
    const Operation operation = std::move(next.operation);
    lock.unlock();
    Result result = Timed(operation);
    lock.lock();
    tasks_.pop_front();
    results_.push_back(std::move(result));
    changed_.notify_all();
  }
}

}  // namespace tally::server
