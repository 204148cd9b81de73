// CONFIG GET and CONFIG SET as functions, independent of any connection.
#pragma once

#include <absl/status/statusor.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/config/config.h"
#include "server/config/directive.h"

namespace tally::server {

// Returns name and value of every directive that a pattern matches, each once: in the order of the
// patterns, and for each pattern in the order of the table. An alias counts as a directive of its
// own. A name without wildcards is returned as it was asked for; hidden directives are found only
// so.
std::vector<std::pair<std::string, std::string>> ConfigGet(
    const Config& config, std::span<const std::string_view> patterns);

struct ConfigChange {
  Config config;                          // with all the pairs applied
  std::vector<const Directive*> touched;  // the named directives, in the order given
};

// Applies name-value pairs to a copy of `current`: all of them or none. The number of words must be
// even (asserted). The message of an error is the text of the error reply after "ERR ".
absl::StatusOr<ConfigChange> ConfigSet(const Config& current,
                                       std::span<const std::string_view> pairs);

// The text of the error reply for a directive whose value was valid but could not be put into
// effect.
std::string ConfigSetFailure(std::string_view name, std::string_view reason);

}  // namespace tally::server
