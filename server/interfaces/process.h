// Ending and changing the process, as commands see it.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string_view>

namespace tally::server {

// Whether SHUTDOWN saves the data: not at all; if only snapshots keep it (Persistence::SaveAtEnd);
// or in any case.
enum class EndSave : uint8_t { kNone, kAsConfigured, kAlways };

// The process, as commands see it.
class Process {
 public:
  // Ends the server after this turn. Fails if the log cannot be written, unless `force` is set.
  // The caller has saved the data as `save` says. What other clients change in the rest of the turn
  // is saved at its end, in the same way.
  virtual absl::Status Shutdown(bool force, EndSave save) = 0;
  // Called when CONFIG SET has changed a directive; applies those that the process itself holds
  // (maxclients, loglevel …).
  virtual absl::Status ApplyConfig(std::string_view name) = 0;
  virtual int64_t started_ms() const = 0;
  // Lets the other clients have their turn while a script is busy; see Services::script_busy.
  // Returns false if the server is ending: then the script must end.
  virtual bool ServeOthers() = 0;

 protected:
  ~Process() = default;
};

}  // namespace tally::server
