// tallyd --ping: asks the server that a configuration describes whether it serves. For the health
// checks of containers and scripts, which may have no redis-cli.
#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <string>

#include "server/config/config.h"

namespace tally::server {

// Sends PING to the unix socket if there is one, else to the first address of `bind`: to `port`, or
// with TLS to `tls-port` if `port` is 0. Returns the reply without its line end. A server that asks
// for a password counts as serving, since it answers LOADING and MISCONF before that.
// Errors: Unavailable if no server answers within `wait`, which is the limit for connecting,
// sending and receiving together; FailedPrecondition if the answer is an error, such as LOADING, or
// if the configuration listens nowhere; InvalidArgument if its address or certificate is unusable.
absl::StatusOr<std::string> Ping(const Config& config,
                                 std::chrono::milliseconds wait = std::chrono::seconds(5));

}  // namespace tally::server
