// Runs the commands of an HTTP request in the same way as those of a RESP request: rights, memory
// and the state of the log are checked; the slow log, statistics and MONITOR see them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server/command/command.h"
#include "server/http/http_message.h"
#include "server/resp/reply_reader.h"

namespace tally::server {

struct CommandReply {
  std::string wire;             // the reply in RESP3
  std::string_view names = {};  // see Command::reply_names

  static CommandReply Error(std::string_view text);

  bool is_error() const { return IsError(wire); }
  // The text of the error, with its code. Requires is_error().
  std::string_view error() const { return ErrorText(wire); }
};

// The most bytes of a reply that is converted to JSON. A reply is converted within one turn, so
// this limits how long other clients wait for it.
inline constexpr size_t kMaxReplyBytes = size_t{1} << 20;

// Runs the command and returns its reply. Returns nullopt if clients are paused: the caller must
// run it again in a later turn. A command that changes the connection, or may block it, is not run:
// the reply is an error.
std::optional<CommandReply> RunCommand(const HttpCall& call, Args args);

// Returns the HTTP status for the error of a single command: 401 if the user is not logged in, 403
// if a right is missing, 503 while the server cannot run the command, otherwise 400.
int StatusOfError(std::string_view text);

}  // namespace tally::server
