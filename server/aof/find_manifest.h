// Finds the append-only file of a server from a path that an operator names. It is for tools that
// examine or copy the files from outside the server.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "server/aof/file_system.h"

namespace tally::server {

// The end of the name of a copy that is being made. FindManifest does not look into it.
inline constexpr char kUnfinishedSuffix[] = ".unfinished";

struct ManifestPlace {
  std::string directory;
  std::string base_name;  // the manifest is directory/base_name.manifest
};

// `path` is the server's `dir`, the directory of the append-only file, or its manifest. NotFound if
// there is no manifest, InvalidArgument if there are several. A path that ends in .manifest is not
// looked up.
absl::StatusOr<ManifestPlace> FindManifest(FileSystem& files, const std::string& path);

}  // namespace tally::server
