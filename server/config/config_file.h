// The configuration on disk.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <vector>

#include "server/config/config.h"
#include "server/config/config_text.h"

namespace tally::server {

struct LoadedConfig {
  Config config;
  std::string path;                   // absolute path of the file; empty if there was none
  std::vector<std::string> warnings;  // of what has no effect, one line each
};

// The defaults, then the file and what it includes, then the command line's directives. The error's
// message is ready to be shown: a line of place and reason for everything that is wrong.
absl::StatusOr<LoadedConfig> LoadConfig(const CommandLine& line);

// Brings the file at `path` in line with `config`.
absl::Status RewriteConfigFile(const std::string& path, const Config& config);

}  // namespace tally::server
