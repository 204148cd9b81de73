// Says when the process ends, and has the data saved before, if that was asked for.
#pragma once

#include <absl/status/status.h>

#include "server/state/services.h"
#include "server/supervisor.h"

namespace tally::server {

class ProcessEnd {
 public:
  ProcessEnd(Services& server, Supervisor& supervisor) : server_(server), supervisor_(supervisor) {}

  // SHUTDOWN: after this turn; with `force` also when the log cannot be written. `save` asks for
  // what others still change in this turn to be saved as well.
  absl::Status Ask(bool force, bool save);
  void AskBySignal();
  // The data cannot be loaded, so there is nothing to save.
  void FailToStart();

  bool asked() const { return asked_; }
  bool failed_to_start() const { return failed_to_start_; }
  // At the turn's end: whether the process ends now. What is to be saved has been saved then; if
  // that fails, the server goes on.
  bool IsDue();

 private:
  Services& server_;
  Supervisor& supervisor_;
  bool asked_ = false;
  // With asked_: whether a snapshot is still to be written, and the end comes without it too.
  bool saves_ = false;
  bool forced_ = false;
  bool failed_to_start_ = false;
};

}  // namespace tally::server
