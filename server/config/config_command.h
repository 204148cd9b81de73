// What CONFIG GET and CONFIG SET mean, apart from any connection.
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

// Name and value of every directive that a pattern matches, each once, in the table's order. An
// alias counts as a directive of its own; a name without wildcards is given back as it was asked.
std::vector<std::pair<std::string, std::string>> ConfigGet(
    const Config& config, std::span<const std::string_view> patterns);

struct ConfigChange {
  Config config;                          // with all the pairs applied
  std::vector<const Directive*> touched;  // what was named, in the order given
};

// Applies name-value pairs (an even number of words) to a copy: all of them or none. The error's
// message is the error reply's text after "ERR ".
absl::StatusOr<ConfigChange> ConfigSet(const Config& current,
                                       std::span<const std::string_view> pairs);

// The same text for a directive that was valid but could not be put into effect.
std::string ConfigSetFailure(std::string_view name, std::string_view reason);

}  // namespace tally::server
