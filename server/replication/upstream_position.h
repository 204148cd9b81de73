// Which bytes of a primary's stream the data of a replica has, and how its log says so.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "server/command/command.h"

namespace tally::server {

struct UpstreamPosition {
  std::string replid;   // the primary's history; empty: nothing is known
  uint64_t offset = 0;  // this many bytes of it are in the data
  size_t database = 0;  // the one that is selected there

  bool known() const { return !replid.empty(); }
  bool operator==(const UpstreamPosition&) const = default;

  // The note of a log, as a command.
  void AppendNote(std::string& out) const;
  // DataLoss if the command is no such note.
  static absl::StatusOr<UpstreamPosition> ReadNote(Args note);
};

}  // namespace tally::server
