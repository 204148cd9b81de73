// Does one slow file operation at a time, so that the event loop does not wait for the disk. It is
// an interface, so that a simulation can choose when an operation happens and when its end is
// noticed. The real implementation is FsyncWorker, a thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "absl/status/status.h"

namespace tally::server {

// Only the thread that owns the worker may call its methods.
class BackgroundWorker {
 public:
  struct Result {
    absl::Status status;
    int64_t duration_us = 0;
  };

  // Waits for a running operation.
  virtual ~BackgroundWorker() = default;

  // Starts the operation. Requires !busy(). Whatever the operation uses must stay alive until its
  // result has been taken.
  virtual void Start(std::function<absl::Status()> operation) = 0;
  // True from Start until Poll or Wait has returned the result.
  virtual bool busy() const = 0;
  // Returns the result of the operation, or nullopt if it has not ended. Requires busy().
  virtual std::optional<Result> Poll() = 0;
  // Waits for the operation and returns its result. Requires busy().
  virtual Result Wait() = 0;
};

}  // namespace tally::server
