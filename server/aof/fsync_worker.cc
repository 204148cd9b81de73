#include "server/aof/fsync_worker.h"

#include <chrono>
#include <system_error>
#include <utility>

#include "core/base/check.h"

namespace tally::server {
namespace {

BackgroundWorker::Result Timed(const std::function<absl::Status()>& operation) {
  const auto begin = std::chrono::steady_clock::now();
  absl::Status status = operation();
  const auto took = std::chrono::steady_clock::now() - begin;
  return {std::move(status), std::chrono::duration_cast<std::chrono::microseconds>(took).count()};
}

}  // namespace

FsyncWorker::~FsyncWorker() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FsyncWorker::Start(std::function<absl::Status()> operation) {
  Check(!busy_, "the worker does one operation at a time");
  busy_ = true;
  if (!HasThread()) {
    result_ = Timed(operation);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    operation_ = std::move(operation);
  }
  changed_.notify_all();
}

bool FsyncWorker::HasThread() {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

std::optional<FsyncWorker::Result> FsyncWorker::Poll() {
  Check(busy_, "an operation was started");
  const std::lock_guard lock(mutex_);
  if (!result_.has_value()) return std::nullopt;
  return TakeResult();
}

FsyncWorker::Result FsyncWorker::Wait() {
  Check(busy_, "an operation was started");
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return result_.has_value(); });
  return TakeResult();
}

FsyncWorker::Result FsyncWorker::TakeResult() {
  Result result = std::move(*result_);
  result_.reset();
  busy_ = false;
  return result;
}

void FsyncWorker::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || operation_ != nullptr; });
    // An operation that was started is run even if the thread is to stop, because its bytes were
    // promised.
    if (operation_ == nullptr) return;
    const auto operation = std::exchange(operation_, nullptr);
    lock.unlock();
    Result result = Timed(operation);
    lock.lock();
    result_ = std::move(result);
    changed_.notify_all();
  }
}

}  // namespace tally::server
