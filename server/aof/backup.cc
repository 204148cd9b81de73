#include "server/aof/backup.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
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

// Where the copy is made, and the name that it gets when it is whole.
struct Target {
  std::string directory;  // of the append-only file, within `work` or `work` itself
  std::string work;
  std::string whole;
};

// A directory that is there may be the root of a disk, which cannot be renamed: then what is in it
// is.
absl::StatusOr<Target> PrepareTarget(FileSystem& files, std::string to, const std::string& name) {
  if (to.empty()) return absl::InvalidArgumentError("the backup has no name");
  while (to.size() > 1 && to.ends_with('/')) to.pop_back();
  const auto present = files.List(to);
  if (present.ok() && !present->empty()) {
    return absl::AlreadyExistsError(absl::StrCat(to, " is not empty"));
  }
  if (!present.ok() && !absl::IsNotFound(present.status())) return present.status();
  Target target;
  target.whole = present.ok() ? absl::StrCat(to, "/", name) : to;
  target.work = absl::StrCat(target.whole, kUnfinishedSuffix);
  target.directory = present.ok() ? target.work : absl::StrCat(target.work, "/", name);
  const auto left = files.List(target.work);
  if (left.ok() && !left->empty()) {
    return absl::AlreadyExistsError(absl::StrCat(
        target.work, " is there: a backup runs, or did not end. If none runs, remove it"));
  }
  return target;
}

void RemoveCopy(FileSystem& files, const std::string& directory, const std::string& outer) {
  const auto names = files.List(directory);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>{}) {
    files.Remove(absl::StrCat(directory, "/", name)).IgnoreError();
  }
  files.Remove(directory).IgnoreError();
  if (outer != directory) files.Remove(outer).IgnoreError();
}

// The report of CheckAof on the copy. The last batch may have been copied in part, as after a
// crash: CheckAof truncates it.
absl::StatusOr<std::string> CopyAndCheck(FileSystem& files, const ManifestPlace& place,
                                         const Target& target) {
  absl::Status status = files.CreateDirectory(target.work);
  if (status.ok()) status = files.CreateDirectory(target.directory);
  if (!status.ok()) return status;
  const auto set = OpenDataSet(files, place);
  if (!set.ok()) return set.status();
  status = CopyAll(files, *set, target.directory,
                   absl::StrCat(target.directory, "/", place.base_name, ".manifest"));
  if (!status.ok()) return status;
  CheckAofResult checked = CheckAof(files, target.directory, true);
  if (checked.verdict == CheckAofResult::Verdict::kDamaged) {
    return absl::DataLossError(absl::StrCat("what was copied is damaged\n", checked.report));
  }
  status = files.SyncDirectory(target.work);
  if (!status.ok()) return status;
  return std::move(checked.report);
}

absl::Status GiveName(FileSystem& files, const Target& target) {
  absl::Status status = files.Rename(target.work, target.whole);
  if (!status.ok()) return status;
  const size_t slash = target.whole.rfind('/');
  const std::string parent = slash == std::string::npos ? "." : target.whole.substr(0, slash + 1);
  status = files.SyncDirectory(parent);
  if (status.ok()) return status;
  // Without a name that is on disk the copy is as lost as the others.
  RemoveCopy(files, target.whole + target.directory.substr(target.work.size()), target.whole);
  return status;
}

}  // namespace

absl::StatusOr<std::string> Backup(FileSystem& files, const std::string& from,
                                   const std::string& to) {
  const auto place = FindManifest(files, from);
  if (!place.ok()) return place.status();
  const auto target = PrepareTarget(files, to, NameOf(place->directory));
  if (!target.ok()) return target.status();
  auto report = CopyAndCheck(files, *place, *target);
  if (report.ok()) {
    absl::StrReplaceAll({{target->work, target->whole}}, &*report);
    const absl::Status status = GiveName(files, *target);
    if (status.ok()) return report;
    report = status;
  }
  RemoveCopy(files, target->directory, target->work);
  return report;
}

}  // namespace tally::server
