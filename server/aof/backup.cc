#include "server/aof/backup.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "server/aof/aof_directory.h"
#include "server/aof/check_aof.h"
#include "server/aof/find_manifest.h"

namespace tally::server {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
constexpr int kMostAttempts = 10;

// The last component of a path, which may end in slashes. If it is missing or begins with a dot,
// the default name of the directory.
std::string NameOf(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() || name.starts_with('.') ? "appendonlydir" : name;
}

// An open file of the data set. Its first `size` bytes are copied.
struct Part {
  std::string name;
  std::unique_ptr<File> file;
  uint64_t size = 0;
};

struct DataSet {
  Manifest manifest;
  std::vector<Part> parts;
};

absl::StatusOr<Part> OpenPart(const AofDirectory& directory, const ManifestEntry& entry) {
  auto file = directory.files().OpenForRead(directory.PathOf(entry));
  if (!file.ok()) return file.status();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.status();
  return Part{entry.name, std::move(*file), *size};
}

// Opens the newest log first. While it is empty, the log before it may still grow. Once it has
// content, all that it continues is complete.
absl::Status OpenParts(const AofDirectory& directory, DataSet& set) {
  const Manifest& manifest = set.manifest = directory.manifest();
  std::vector<ManifestEntry> entries(manifest.logs.rbegin(), manifest.logs.rend());
  if (manifest.base.has_value()) entries.push_back(*manifest.base);
  for (const ManifestEntry& entry : entries) {
    auto part = OpenPart(directory, entry);
    if (!part.ok()) return part.status();
    set.parts.push_back(std::move(*part));
  }
  return absl::OkStatus();
}

// Opens all files of the data set; a rewrite may remove them afterwards. They belong together if
// the manifest is the same before and after they were opened.
absl::StatusOr<DataSet> OpenDataSet(FileSystem& files, const ManifestPlace& place) {
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const auto directory = AofDirectory::OpenForInspection(files, place.directory, place.base_name);
    if (!directory.ok()) return directory.status();
    DataSet set;
    const absl::Status opened = OpenParts(**directory, set);
    const auto again = AofDirectory::OpenForInspection(files, place.directory, place.base_name);
    if (!again.ok()) return again.status();
    if ((*again)->manifest() != set.manifest) continue;
    if (!opened.ok()) return opened;
    return set;
  }
  return absl::AbortedError(
      absl::StrCat("rewrites ended ", kMostAttempts, " times while the files were opened"));
}

absl::Status CopyPart(FileSystem& files, const Part& part, const std::string& path) {
  auto copy = files.Create(path);
  if (!copy.ok()) return copy.status();
  std::string chunk(kChunkBytes, '\0');
  uint64_t offset = 0;
  while (offset < part.size) {
    const auto wanted = static_cast<size_t>(std::min<uint64_t>(kChunkBytes, part.size - offset));
    const auto count = ReadFull(*part.file, offset, {chunk.data(), wanted});
    if (!count.ok()) return count.status();
    if (*count == 0) return absl::DataLossError(absl::StrCat(part.name, " became shorter"));
    absl::Status status = AppendAll(**copy, std::string_view(chunk).substr(0, *count));
    if (!status.ok()) return status;
    offset += *count;
  }
  return (*copy)->Sync();
}

// Writes the manifest last: without it no server takes the files for data.
absl::Status CopyAll(FileSystem& files, const DataSet& set, const std::string& to,
                     const std::string& manifest_path) {
  for (const Part& part : set.parts) {
    absl::Status status = CopyPart(files, part, absl::StrCat(to, "/", part.name));
    if (!status.ok()) return status;
  }
  absl::Status status = files.SyncDirectory(to);
  if (!status.ok()) return status;
  auto file = files.Create(manifest_path);
  if (!file.ok()) return file.status();
  status = AppendAll(**file, set.manifest.Format());
  if (status.ok()) status = (*file)->Sync();
  if (status.ok()) status = files.SyncDirectory(to);
  return status;
}

absl::Status MakeEmptyDirectory(FileSystem& files, const std::string& path) {
  absl::Status status = files.CreateDirectory(path);
  if (!status.ok()) return status;
  const auto names = files.List(path);
  if (!names.ok()) return names.status();
  if (names->empty()) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(path, " is not empty"));
}

}  // namespace

absl::StatusOr<std::string> Backup(FileSystem& files, const std::string& from,
                                   const std::string& to) {
  auto place = FindManifest(files, from);
  if (!place.ok()) return place.status();
  const std::string directory = absl::StrCat(to, "/", NameOf(place->directory));
  absl::Status status = MakeEmptyDirectory(files, to);
  if (status.ok()) status = files.CreateDirectory(directory);
  if (!status.ok()) return status;
  const auto set = OpenDataSet(files, *place);
  if (!set.ok()) return set.status();
  const std::string manifest = absl::StrCat(directory, "/", place->base_name, ".manifest");
  status = CopyAll(files, *set, directory, manifest);
  CheckAofResult checked;
  // The last batch may have been copied in part, as after a crash: CheckAof truncates it.
  if (status.ok()) checked = CheckAof(files, directory, true);
  if (checked.verdict == CheckAofResult::Verdict::kDamaged) {
    status = absl::DataLossError(absl::StrCat("what was copied is damaged\n", checked.report));
  }
  if (status.ok()) return std::move(checked.report);
  files.Remove(manifest).IgnoreError();
  return status;
}

}  // namespace tally::server
