#include "server/config/config_file.h"

#include <filesystem>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/config/config_rewrite.h"
#include "server/config/text_file.h"

namespace tally::server {

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
    errors = std::string(status.message());
    if (path != "-") loaded.path = std::filesystem::absolute(path).string();
  }
  const absl::Status status = ApplyDirectives(line.directives, loaded.config, &ignored);
  if (!status.ok()) {
    StrAppend(errors, errors.empty() ? "" : "\n", std::string(status.message()));
  }
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
