#include "server/config/config_file.h"

#include <filesystem>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/config/config_rewrite.h"
#include "server/config/text_file.h"

namespace tally::server {
namespace {

// One of two passwords would be ignored, and whoever has set that one would not know.
absl::Status SetPassword(const std::string& password, Config& config) {
  if (!config.requirepass.empty() && config.requirepass != password) {
    return absl::InvalidArgumentError(
        "requirepass in the configuration file is another password than that of the environment "
        "(TALLYD_PASSWORD or TALLYD_PASSWORD_FILE): give one of them");
  }
  config.requirepass = password;
  return absl::OkStatus();
}

void AddError(const absl::Status& status, std::string& errors) {
  if (!status.ok()) StrAppend(errors, errors.empty() ? "" : "\n", std::string(status.message()));
}

}  // namespace

absl::StatusOr<LoadedConfig> LoadConfig(const CommandLine& line) {
  LoadedConfig loaded;
  std::vector<Ignored> ignored;
  std::string errors;
  if (line.config_path) {
    const std::string& path = *line.config_path;
    const absl::StatusOr<std::string> text = ReadTextFile(path);
    if (!text.ok()) return text.status();
    const std::string name = path == "-" ? "standard input" : path;
    const absl::Status status = ParseConfigText(*text, name, ReadTextFile, loaded.config, &ignored);
    AddError(status, errors);
    if (path != "-") loaded.path = std::filesystem::absolute(path).string();
  }
  if (line.password) AddError(SetPassword(*line.password, loaded.config), errors);
  AddError(ApplyDirectives(line.directives, loaded.config, &ignored), errors);
  if (!errors.empty()) return absl::InvalidArgumentError(errors);
  loaded.warnings = IgnoredWarnings(ignored);
  return loaded;
}

absl::Status RewriteConfigFile(const std::string& path, const Config& config) {
  const absl::StatusOr<std::string> text = ReadTextFile(path);
  if (!text.ok()) return text.status();
  return ReplaceTextFile(path, RewriteConfigText(*text, config));
}

}  // namespace tally::server
