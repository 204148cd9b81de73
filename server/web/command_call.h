// Runs commands for a request of HTTP, with all the checks that a request of RESP meets: rights,
// memory, the state of the log, the slow log, statistics and MONITOR.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/http/http_message.h"

namespace tally::server {

struct CommandReply {
  std::string wire;             // in RESP3
  std::string_view names = {};  // the row's reply_names

  bool is_error() const { return wire.starts_with('-'); }
  // The text of an error.
  std::string_view error() const;
};

// The longest reply that is made into JSON, and the most that all replies of a batch may take.
inline constexpr size_t kMaxReplyBytes = size_t{16} << 20;

// Nothing when it has to be run again in a later turn, because clients are paused. Commands that
// change the connection are refused.
std::optional<CommandReply> RunCommand(const HttpCall& call, Args args);

// The status for an error of a single command: 401 and 403 for want of rights, 503 while the server
// cannot decide, otherwise 400.
int StatusOfError(std::string_view text);

}  // namespace tally::server
