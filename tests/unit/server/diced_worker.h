// A background worker without a thread: dice choose when its operations begin and happen, how long
// it is before that is known, and how long a wait for them takes, so that a seed gives the same run
// again.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/check.h"
#include "random_seed.h"
#include "server/aof/background_worker.h"

namespace tally::test {

class DicedWorker final : public server::BackgroundWorker {
 public:
  // `on_wait` is told the time that a Wait took.
  DicedWorker(SeededRandom& random, std::function<void(int64_t us)> on_wait)
      : random_(random), on_wait_(std::move(on_wait)) {}
  ~DicedWorker() override {
    while (!tasks_.empty()) {
      Perform(tasks_.front());
      tasks_.pop_front();
    }
  }

  void StartAfter(int64_t delay_ms, Operation operation) override {
    tasks_.push_back({std::move(operation), {}, 0, false});
    Task& item = tasks_.back();
    item.polls_left = random_.OneIn(8) ? random_.Below(100) : random_.Below(4);
    const bool waits = delay_ms > 0 || tasks_.size() > 1;
    if (!waits) Begin(item);
  }
  void Hurry() override {
    if (!tasks_.empty()) Begin(tasks_.front());
  }
  bool begun() const override {
    if (tasks_.empty()) return true;
    // Its time may have come since it was last asked.
    DicedWorker& self = const_cast<DicedWorker&>(*this);
    if (tasks_.size() == 1 && random_.OneIn(50)) self.Begin(self.tasks_.front());
    return tasks_.back().begun;
  }
  size_t pending() const override { return tasks_.size(); }
  std::optional<Result> Poll() override {
    Check(!tasks_.empty(), "an operation was started");
    Task& first = tasks_.front();
    if (!first.begun) return std::nullopt;
    if (first.polls_left > 0) {
      --first.polls_left;
      return std::nullopt;
    }
    return Take(0);
  }
  Result Wait() override {
    const int64_t us = random_.OneIn(10) ? random_.Between(0, 5'000'000) : random_.Between(0, 9000);
    on_wait_(us);
    return Take(us);
  }

 private:
  struct Task {
    Operation operation;  // null when it has happened
    absl::Status status;
    uint64_t polls_left;
    bool begun;
  };

  void Begin(Task& item) {
    if (item.begun) return;
    item.begun = true;
    if (random_.OneIn(2)) Perform(item);
  }
  static void Perform(Task& item) {
    if (item.operation != nullptr) item.status = std::exchange(item.operation, nullptr)();
  }
  Result Take(int64_t us) {
    Check(!tasks_.empty(), "an operation was started");
    Begin(tasks_.front());
    Perform(tasks_.front());
    Result result{std::move(tasks_.front().status), us};
    tasks_.pop_front();
    // The next one begins at its time, which may be at once.
    if (!tasks_.empty() && random_.OneIn(2)) Begin(tasks_.front());
    return result;
  }

  SeededRandom& random_;
  std::function<void(int64_t us)> on_wait_;
  std::deque<Task> tasks_;
};

}  // namespace tally::test
