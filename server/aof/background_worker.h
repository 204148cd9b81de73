// Does one slow file operation at a time beside the event loop, which does not wait for the disk.
// It is an interface, so that a simulation can choose when an operation happens and when it is
// known to have ended; FsyncWorker, a thread, is the real one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"

namespace tally::server {

// All methods are for the one thread that owns the worker.
class BackgroundWorker {
 public:
  struct Result {
    absl::Status status;
    int64_t duration_us = 0;
  };

  // Waits for a running operation.
  virtual ~BackgroundWorker() = default;

  // Starts the operation. Requires !busy(); what it uses must stay until the result is taken.
  virtual void Start(std::function<absl::Status()> operation) = 0;
  // True from Start until the result is taken by Poll or Wait.
  virtual bool busy() const = 0;
  // The result of the operation, if it has ended. Requires busy().
  virtual std::optional<Result> Poll() = 0;
  // The same, waiting for it. Requires busy().
  virtual Result Wait() = 0;
};

}  // namespace tally::server
