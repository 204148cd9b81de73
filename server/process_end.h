// Decides when the process ends, and saves the data before it ends if that was asked for.
#pragma once

#include <absl/status/status.h>

#include "server/services.h"
#include "server/supervisor.h"

namespace tally::server {

class ProcessEnd {
 public:
  ProcessEnd(Services& server, Supervisor& supervisor) : server_(server), supervisor_(supervisor) {}

  // For SHUTDOWN: asks for the end after this turn. Fails if the log cannot be written, unless
  // `force` is set. With `save`, and if there are unsaved changes now, the data is saved once more
  // at the end of the turn, with what other clients change until then.
  absl::Status Ask(bool force, bool save);
  void AskBySignal();
  // Asks for the end because the data cannot be loaded. There is nothing to save then.
  void FailToStart();

  bool asked() const { return asked_; }
  bool failed_to_start() const { return failed_to_start_; }
  // Called at the end of a turn. Saves what has to be saved, and returns whether the process ends
  // now. If saving fails, the server goes on, unless the end is forced.
  bool IsDue();

 private:
  Services& server_;
  Supervisor& supervisor_;
  bool asked_ = false;
  // Valid with asked_: whether the data is to be saved before the end, and whether the process ends
  // even if that fails.
  bool saves_ = false;
  bool forced_ = false;
  bool failed_to_start_ = false;
};

}  // namespace tally::server
