// Ending and changing the process, as commands know it.
#pragma once

#include <absl/status/status.h>

#include <cstdint>
#include <string_view>

namespace tally::server {

// The process, as commands see it.
class Process {
 public:
  // Ends the server after this turn; with `force` also when the log cannot be written. `save` asks
  // for what others still change in this turn to be saved as well.
  virtual absl::Status Shutdown(bool force, bool save) = 0;
  // A directive that the process itself holds (port, maxclients …) has changed.
  virtual absl::Status ApplyConfig(std::string_view name) = 0;
  virtual int64_t started_ms() const = 0;
  // Lets the other clients have their turn while a script is busy; see Services::script_busy.
  // False when the server is ending, and the script has to end.
  virtual bool ServeOthers() = 0;

 protected:
  ~Process() = default;
};

}  // namespace tally::server
