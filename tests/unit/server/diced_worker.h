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
    while (!items_.empty()) {
      Perform(items_.front());
      items_.pop_front();
    }
  }

  void StartAfter(int64_t delay_ms, Operation operation) override {
    items_.push_back({std::move(operation), {}, 0, false});
    Item& item = items_.back();
    item.polls_left = random_.OneIn(8) ? random_.Below(100) : random_.Below(4);
    const bool waits = delay_ms > 0 || items_.size() > 1;
    if (!waits) Begin(item);
  }
  void Hurry() override {
    if (!items_.empty()) Begin(items_.front());
  }
  bool begun() const override {
    if (items_.empty()) return true;
    // Its time may have come since it was last asked.
    DicedWorker& self = const_cast<DicedWorker&>(*this);
    if (items_.size() == 1 && random_.OneIn(50)) self.Begin(self.items_.front());
    return items_.back().begun;
  }
  size_t pending() const override { return items_.size(); }
  std::optional<Result> Poll() override {
    Check(!items_.empty(), "an operation was started");
    Item& first = items_.front();
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
  struct Item {
    Operation operation;  // null when it has happened
    absl::Status status;
    uint64_t polls_left;
    bool begun;
  };

  void Begin(Item& item) {
    if (item.begun) return;
    item.begun = true;
    if (random_.OneIn(2)) Perform(item);
  }
  static void Perform(Item& item) {
    if (item.operation != nullptr) item.status = std::exchange(item.operation, nullptr)();
  }
  Result Take(int64_t us) {
    Check(!items_.empty(), "an operation was started");
    Begin(items_.front());
    Perform(items_.front());
    Result result{std::move(items_.front().status), us};
    items_.pop_front();
    // The next one begins at its time, which may be at once.
    if (!items_.empty() && random_.OneIn(2)) Begin(items_.front());
    return result;
  }

  SeededRandom& random_;
  std::function<void(int64_t us)> on_wait_;
  std::deque<Item> items_;
};

}  // namespace tally::test
