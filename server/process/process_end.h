// Decides when the process ends, and saves the data before it ends if that was asked for.
#pragma once

#include <absl/status/status.h>

#include "server/interfaces/process.h"
#include "server/interfaces/services.h"
#include "server/process/supervisor.h"

namespace tally::server {

class ProcessEnd {
 public:
  ProcessEnd(Services& server, Supervisor& supervisor) : server_(server), supervisor_(supervisor) {}

  // For SHUTDOWN: asks for the end after this turn. Fails if the log cannot be written, unless
  // `force` is set. The caller has saved the data as `save` says; what other clients change in the
  // rest of the turn, which they are told is done, is saved in the same way at its end.
  absl::Status Ask(bool force, EndSave save);
  void AskBySignal();
  // Asks for the end because the data cannot be loaded. There is nothing to save then.
  void FailToStart();

  bool asked() const { return asked_; }
  bool failed_to_start() const { return failed_to_start_; }
  // Called at the end of a turn. Saves what has to be saved, and returns whether the process ends
  // now. If saving fails, the server goes on, unless the end is forced.
  bool IsDue();

 private:
  absl::Status Save();

  Services& server_;
  Supervisor& supervisor_;
  bool asked_ = false;
  // Valid with asked_: how the data is to be saved before the end, whether it was saved when the
  // end was asked for, and whether the process ends even if saving fails.
  EndSave save_ = EndSave::kNone;
  bool saved_ = false;
  bool forced_ = false;
  bool failed_to_start_ = false;
};

}  // namespace tally::server
