// What a log says beside the effects: where the data comes from, for a replica that goes on after a
// restart. The log of a server writes it, and its load reads it; the stream of effects has nothing
// of it.
#pragma once

#include <absl/status/status.h>

#include <string>

#include "server/command/command.h"

namespace tally::server {

class LogNotes {
 public:
  // Appends all that must be known where a log begins that continues a base, as commands of the
  // form that IsNote takes.
  virtual void AppendAll(std::string& out) = 0;
  // The same for what has changed since the last call. Effects that were just written
  // precede it in the same batch, so that a crash never parts them.
  virtual void AppendChanged(std::string& out) = 0;
  // A note of a log that is loaded, but not a StreamNote. DataLoss if it is none of ours.
  virtual absl::Status Load(Args note) = 0;

  // Redis, which may be given a log, takes such a command for one without effect.
  static bool IsNote(Args command) { return command[0] == "REPLCONF"; }

 protected:
  ~LogNotes() = default;
};

}  // namespace tally::server
