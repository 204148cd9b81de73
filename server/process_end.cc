#include "server/process_end.h"

#include <string>

#include "server/log/log.h"
#include "server/state/persistence.h"
#include "server/state/stats.h"

namespace tally::server {

absl::Status ProcessEnd::Ask(bool force, bool save) {
  if (!force && !server_.persistence->write_error().ok()) {
    return absl::FailedPreconditionError("Errors trying to SHUTDOWN. Check logs.");
  }
  asked_ = true;
  saves_ = save && server_.stats.changes_since_save > 0;
  forced_ = force;
  return absl::OkStatus();
}

void ProcessEnd::AskBySignal() {
  asked_ = true;
  // A busy script has done only a part of its work, which must not be saved.
  saves_ = !server_.script_busy;
  forced_ = false;
}

void ProcessEnd::FailToStart() { asked_ = failed_to_start_ = true; }

// If the data cannot be saved, it is not given up: the server goes on, as redis-server does.
bool ProcessEnd::IsDue() {
  if (!asked_) return false;
  supervisor_.Stopping().IgnoreError();
  if (failed_to_start_ || !saves_) return true;
  const absl::Status status = server_.persistence->SaveAtEnd();
  if (status.ok() || forced_) return true;
  server_.log.Warning("The data cannot be saved, so the server goes on; SHUTDOWN NOSAVE ends it: ",
                      std::string(status.message()));
  supervisor_.Ready().IgnoreError();
  asked_ = false;
  return false;
}

}  // namespace tally::server
