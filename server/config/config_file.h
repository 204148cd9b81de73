// The configuration on disk.
#pragma once

#include <absl/status/statusor.h>

#include <string>

#include "server/config/config.h"
#include "server/config/config_text.h"

namespace tally::server {

struct LoadedConfig {
  Config config;
  std::string path;  // absolute path of the file; empty if there was none
};

// The defaults, then the file and what it includes, then the command line's directives. The error's
// message is ready to be shown: place and reason.
absl::StatusOr<LoadedConfig> LoadConfig(const CommandLine& line);

// Brings the file at `path` in line with `config`.
absl::Status RewriteConfigFile(const std::string& path, const Config& config);

}  // namespace tally::server
