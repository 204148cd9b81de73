// Small files of text: the configuration, and the users of aclfile.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// The whole file; "-" is standard input. The error's message names the path and the reason.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

// Those that a shell would put in place of the pattern, in alphabetical order.
std::vector<std::string> MatchingFiles(const std::string& pattern);

// Puts `text` in the file's place: a temporary file beside it, synced, then renamed over it, so
// that a crash leaves the old file or the new one. The old file's mode stays; a new file is for its
// owner alone.
absl::Status ReplaceTextFile(const std::string& path, std::string_view text);

}  // namespace tally::server
