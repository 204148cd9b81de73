#include "server/process/process_end.h"

#include <string>

#include "server/interfaces/persistence.h"
#include "server/log/log.h"
#include "server/state/stats.h"

namespace tally::server {

absl::Status ProcessEnd::Ask(bool force, EndSave save) {
  if (!force && !server_.persistence->write_error().ok()) {
    return absl::FailedPreconditionError("Errors trying to SHUTDOWN. Check logs.");
  }
  asked_ = true;
  save_ = save;
  saved_ = true;
  forced_ = force;
  return absl::OkStatus();
}

void ProcessEnd::AskBySignal() {
  asked_ = true;
  // A busy script has done only a part of its work, which must not be saved.
  save_ = server_.script_busy ? EndSave::kNone : EndSave::kAsConfigured;
  saved_ = false;
  forced_ = false;
}

void ProcessEnd::FailToStart() { asked_ = failed_to_start_ = true; }

absl::Status ProcessEnd::Save() {
  if (saved_ && server_.stats.changes_since_save == 0) return absl::OkStatus();
  Persistence& persistence = *server_.persistence;
  return save_ == EndSave::kAlways ? persistence.SaveNow() : persistence.SaveAtEnd();
}

// If the data cannot be saved, it is not given up: the server goes on, as redis-server does.
bool ProcessEnd::IsDue() {
  if (!asked_) return false;
  supervisor_.Stopping().IgnoreError();
  if (failed_to_start_ || save_ == EndSave::kNone) return true;
  const absl::Status status = Save();
  if (status.ok() || forced_) return true;
  server_.log.Warning("The data cannot be saved, so the server goes on; SHUTDOWN NOSAVE ends it: ",
                      std::string(status.message()));
  supervisor_.Ready().IgnoreError();
  asked_ = false;
  return false;
}

}  // namespace tally::server
