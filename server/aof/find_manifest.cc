#include "server/aof/find_manifest.h"

#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace tally::server {
namespace {

constexpr std::string_view kManifestSuffix = ".manifest";

ManifestPlace PlaceOf(const std::string& directory, const std::string& manifest) {
  return {directory, manifest.substr(0, manifest.size() - kManifestSuffix.size())};
}

// The manifests in a directory; none if it is not a directory.
std::vector<ManifestPlace> ManifestsIn(FileSystem& files, const std::string& directory) {
  std::vector<ManifestPlace> found;
  const auto names = files.List(directory);
  if (!names.ok()) return found;
  for (const std::string& name : *names) {
    if (!name.ends_with(kManifestSuffix) || name.starts_with("temp-")) continue;
    found.push_back(PlaceOf(directory, name));
  }
  return found;
}

}  // namespace

// Looks in the directory itself; if there is none, in its subdirectories (`path` is then a `dir`).
absl::StatusOr<ManifestPlace> FindManifest(FileSystem& files, const std::string& path) {
  if (path.ends_with(kManifestSuffix)) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return PlaceOf(".", path);
    return PlaceOf(path.substr(0, slash), path.substr(slash + 1));
  }
  const auto names = files.List(path);
  if (!names.ok()) return names.status();
  std::vector<ManifestPlace> found = ManifestsIn(files, path);
  if (found.empty()) {
    for (const std::string& name : *names) {
      if (name.ends_with(kUnfinishedSuffix)) continue;
      for (ManifestPlace& place : ManifestsIn(files, absl::StrCat(path, "/", name))) {
        found.push_back(std::move(place));
      }
    }
  }
  if (found.empty()) return absl::NotFoundError(absl::StrCat("no manifest in ", path));
  if (found.size() == 1) return found.front();
  return absl::InvalidArgumentError(
      absl::StrCat(path, " holds several manifests: name the one to check"));
}

}  // namespace tally::server
