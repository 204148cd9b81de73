#include "server/durability/redis_files.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/aof/manifest.h"

namespace tally::server {
namespace {

constexpr size_t kMaxManifestBytes = size_t{1} << 20;
constexpr std::string_view kAside = ".from-redis";

bool IsThere(FileSystem& files, const std::string& path) { return files.OpenForRead(path).ok(); }

// Whether the folder has files of the form that our own have.
bool HasDataFiles(FileSystem& files, const std::string& folder) {
  const auto names = files.List(folder);
  return names.ok() && std::any_of(names->begin(), names->end(), [](const std::string& name) {
           return name.ends_with(".base.tly") || name.ends_with(".incr.aof");
         });
}

bool IsEmpty(FileSystem& files, const std::string& folder) {
  const auto names = files.List(folder);
  return !names.ok() || names->empty();
}

RedisFiles Listed(const Manifest& manifest, const std::string& folder) {
  RedisFiles found;
  found.is_log = true;
  found.originals = {folder};
  if (manifest.base) found.paths.push_back(StrCat(folder, "/", manifest.base->name));
  for (const ManifestEntry& log : manifest.logs) {
    found.paths.push_back(StrCat(folder, "/", log.name));
  }
  return found;
}

// Files of the working directory beside which there is no log in a folder.
std::optional<RedisFiles> LooseFiles(FileSystem& files, const Config& config) {
  const auto only = [](const std::string& path, bool is_log) {
    return RedisFiles{.paths = {path}, .is_log = is_log, .originals = {path}};
  };
  if (config.appendonly && IsThere(files, config.appendfilename)) {
    return only(config.appendfilename, true);
  }
  if (IsThere(files, config.dbfilename)) return only(config.dbfilename, false);
  return std::nullopt;
}

// A log may begin with a snapshot: then its name says what it is.
absl::StatusOr<bool> LooksLikeLog(File& file) {
  char first = '*';
  const auto count = file.ReadAt(0, std::span(&first, 1));
  if (!count.ok()) return count.status();
  return first == '*' || first == '#' || file.path().ends_with(".aof");
}

bool IsTaken(FileSystem& files, const std::string& path) {
  return IsThere(files, path) || !IsEmpty(files, path);
}

// The first name that is free, so that the one without a number is there if any is.
std::string AsideName(FileSystem& files, const std::string& path) {
  std::string name = StrCat(path, kAside);
  for (int i = 2; IsTaken(files, name); ++i) name = StrCat(path, kAside, "-", i);
  return name;
}

}  // namespace

absl::StatusOr<std::optional<RedisFiles>> FindRedisFiles(FileSystem& files, const Config& config) {
  const std::string& folder = config.appenddirname;
  const std::string path = StrCat(folder, "/", config.appendfilename, ".manifest");
  const auto text = ReadSmallFile(files, path, kMaxManifestBytes);
  if (!text.ok()) {
    if (HasDataFiles(files, folder)) return std::nullopt;
    auto loose = LooseFiles(files, config);
    // A folder without data makes way too.
    if (loose && !IsEmpty(files, folder)) loose->originals.push_back(folder);
    return loose;
  }
  if (const auto own = Manifest::Parse(*text, path); own.ok() && own->empty()) {
    return LooseFiles(files, config);
  }
  if (!Manifest::IsOfRedis(*text)) return std::nullopt;
  if (config.appendonly) {
    const auto manifest = Manifest::ParseOfRedis(*text, path);
    if (!manifest.ok()) return manifest.status();
    return Listed(*manifest, folder);
  }
  auto loose = LooseFiles(files, config);
  if (!loose) {
    return absl::FailedPreconditionError(
        StrCat(path,
               " is Redis's, and appendonly is no, so Redis would not read it: set appendonly "
               "yes to start with this log, or move the folder away to start without it"));
  }
  // The folder is where our own files will be.
  loose->originals.push_back(folder);
  return loose;
}

absl::StatusOr<RedisFiles> RedisFilesAt(FileSystem& files, const std::string& path) {
  const auto names = files.List(path);
  if (!names.ok() || names->empty()) {
    const auto file = files.OpenForRead(path);
    if (!file.ok()) return file.status();
    const auto is_log = LooksLikeLog(**file);
    if (!is_log.ok()) return is_log.status();
    return RedisFiles{.paths = {path}, .is_log = *is_log, .originals = {}};
  }
  for (const std::string& name : *names) {
    if (!name.ends_with(".manifest") || name.starts_with("temp-")) continue;
    const std::string manifest_path = StrCat(path, "/", name);
    const auto text = ReadSmallFile(files, manifest_path, kMaxManifestBytes);
    if (!text.ok()) return text.status();
    const auto manifest = Manifest::ParseOfRedis(*text, manifest_path);
    if (!manifest.ok()) return manifest.status();
    RedisFiles found = Listed(*manifest, path);
    found.originals.clear();
    return found;
  }
  return absl::NotFoundError(StrCat(path, " has no manifest of a log of Redis"));
}

absl::StatusOr<std::string> SetAside(FileSystem& files, const std::string& path) {
  const std::string name = AsideName(files, path);
  absl::Status status = files.Rename(path, name);
  if (status.ok()) status = files.SyncDirectory(FolderOf(path));
  if (!status.ok()) return status;
  return name;
}

bool IsSetAside(FileSystem& files, const std::string& path) {
  return IsTaken(files, StrCat(path, kAside));
}

}  // namespace tally::server
