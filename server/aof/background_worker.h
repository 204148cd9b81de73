// Does slow file operations one after the other, so that the event loop does not wait for the disk.
// It is an interface, so that a simulation can choose when an operation happens and when its end is
// noticed. The real implementation is BackgroundThread, a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/status/status.h"

namespace tally::server {

// Only the thread that owns the worker may call its methods.
class BackgroundWorker {
 public:
  using Operation = std::function<absl::Status()>;
  struct Result {
    absl::Status status;
    int64_t duration_us = 0;
  };

  // Waits for all operations, and does not wait for their times.
  virtual ~BackgroundWorker() = default;

  // Starts the operation: it begins when those before it have ended. Whatever it uses must stay
  // alive until its result has been taken.
  void Start(Operation operation) { StartAfter(0, std::move(operation)); }
  // The same, but it begins no earlier than in `delay_ms`, by the worker's own clock: so it begins
  // in time whatever the owner does meanwhile.
  virtual void StartAfter(int64_t delay_ms, Operation operation) = 0;
  // An operation that waits for its time need not wait longer.
  virtual void Hurry() = 0;
  // Whether the operation that was started last has begun. What the owner did before this returned
  // false, the operation will see.
  virtual bool begun() const = 0;
  // How many results have not been taken.
  virtual size_t pending() const = 0;
  bool busy() const { return pending() > 0; }
  // Takes the next result, in the order of the operations; nullopt if that operation has not ended.
  // Requires busy().
  virtual std::optional<Result> Poll() = 0;
  // Hurries, waits for the next result and takes it. Requires busy().
  virtual Result Wait() = 0;
};

}  // namespace tally::server
