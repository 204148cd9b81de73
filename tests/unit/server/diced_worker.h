// A background worker without a thread: dice choose when its operation happens, how long it is
// before that is known, and how long a wait for it takes, so that a seed gives the same run again.
#pragma once

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
  ~DicedWorker() override { Perform(); }

  void Start(std::function<absl::Status()> operation) override {
    Check(!busy_, "the worker does one operation at a time");
    busy_ = true;
    operation_ = std::move(operation);
    polls_left_ = random_.OneIn(8) ? random_.Below(100) : random_.Below(4);
    if (random_.OneIn(2)) Perform();
  }
  bool busy() const override { return busy_; }
  std::optional<Result> Poll() override {
    if (polls_left_ > 0) {
      --polls_left_;
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
  void Perform() {
    if (operation_ != nullptr) status_ = std::exchange(operation_, nullptr)();
  }
  Result Take(int64_t us) {
    Check(busy_, "an operation was started");
    Perform();
    busy_ = false;
    return {std::exchange(status_, absl::OkStatus()), us};
  }

  SeededRandom& random_;
  std::function<void(int64_t us)> on_wait_;
  std::function<absl::Status()> operation_;
  absl::Status status_;
  bool busy_ = false;
  uint64_t polls_left_ = 0;
};

}  // namespace tally::test
