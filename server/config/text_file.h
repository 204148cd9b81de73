// Reads and replaces small text files: the configuration, and the users of aclfile.
#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

namespace tally::server {

// Returns the whole file; "-" is standard input. The message of an error names the path and the
// reason. InvalidArgument for more than 16 MiB.
absl::StatusOr<std::string> ReadTextFile(const std::string& path);

// Returns the paths that match the pattern of a shell, in alphabetical order; none if nothing
// matches.
std::vector<std::string> MatchingFiles(const std::string& pattern);

// Replaces the content of the file by `text`. It writes and syncs a temporary file beside it and
// renames that over the file, so a crash leaves the old file or the new one. The mode of an old
// file stays; a new file is only for its owner.
absl::Status ReplaceTextFile(const std::string& path, std::string_view text);

}  // namespace tally::server
