// Loads the configuration from its file and the command line, and writes it back to the file.
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
  std::vector<std::string> warnings;  // of directives without effect, one line for each reason
};

// Applies to the defaults first the file with the files that it includes, then the directives of
// the command line. The message of an error can be shown as it is: it has a line with place and
// reason for everything that is wrong.
absl::StatusOr<LoadedConfig> LoadConfig(const CommandLine& line);

// Rewrites the file at `path` so that it gives `config`.
absl::Status RewriteConfigFile(const std::string& path, const Config& config);

}  // namespace tally::server
