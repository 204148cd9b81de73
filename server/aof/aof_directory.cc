#include "server/aof/aof_directory.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace tally::server {
namespace {

constexpr size_t kMaxManifestBytes = size_t{1} << 20;
constexpr std::string_view kTemporary = "temp-";

}  // namespace

AofDirectory::AofDirectory(FileSystem& files, std::string directory, std::string base_name)
    : files_(files), directory_(std::move(directory)), base_name_(std::move(base_name)) {}

std::string AofDirectory::LogName(uint64_t sequence) const {
  return absl::StrCat(base_name_, ".", sequence, ".incr.aof");
}

std::string AofDirectory::BaseName(uint64_t sequence) const {
  return absl::StrCat(base_name_, ".", sequence, ".base.tly");
}

bool AofDirectory::IsOurs(const std::string& name) const {
  std::string_view rest = name;
  if (rest.starts_with(kTemporary)) rest.remove_prefix(kTemporary.size());
  if (!rest.starts_with(base_name_ + ".")) return false;
  rest.remove_prefix(base_name_.size() + 1);
  if (rest == "manifest") return name.starts_with(kTemporary);
  const size_t digits = rest.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  rest.remove_prefix(digits);
  return rest == ".incr.aof" || rest == ".base.tly";
}

absl::StatusOr<std::unique_ptr<AofDirectory>> AofDirectory::Open(FileSystem& files,
                                                                 const std::string& directory,
                                                                 const std::string& base_name) {
  absl::Status status = files.CreateDirectory(directory);
  if (status.ok()) status = files.SyncDirectory(FolderOf(directory));
  if (!status.ok()) return status;
  std::unique_ptr<AofDirectory> opened(new AofDirectory(files, directory, base_name));
  auto lock = Lock(files, directory, base_name);
  if (!lock.ok()) return lock.status();
  opened->lock_ = std::move(*lock);
  status = opened->ReadManifest();
  // The manifest must be durable before any file is removed that it does not list.
  if (status.ok()) status = files.SyncDirectory(directory);
  if (status.ok()) status = opened->RemoveObsolete();
  if (!status.ok()) return status;
  return opened;
}

absl::StatusOr<std::unique_ptr<AofDirectory>> AofDirectory::OpenForInspection(
    FileSystem& files, const std::string& directory, const std::string& base_name) {
  std::unique_ptr<AofDirectory> opened(new AofDirectory(files, directory, base_name));
  absl::Status status = opened->ReadManifest();
  if (!status.ok()) return status;
  return opened;
}

absl::StatusOr<std::unique_ptr<File>> AofDirectory::Lock(FileSystem& files,
                                                         const std::string& directory,
                                                         const std::string& base_name) {
  return files.Lock(directory + "/" + base_name + ".lock");
}

absl::Status AofDirectory::ReadManifest() {
  const auto text = ReadSmallFile(files_, ManifestPath(), kMaxManifestBytes);
  if (absl::IsNotFound(text.status())) return CheckNothingWithoutManifest();
  if (!text.ok()) return text.status();
  auto manifest = Manifest::Parse(*text, ManifestPath());
  if (!manifest.ok()) return manifest.status();
  manifest_ = std::move(*manifest);
  if (!manifest_.logs.empty()) last_log_sequence_ = manifest_.logs.back().sequence;
  if (manifest_.base.has_value()) last_base_sequence_ = manifest_.base->sequence;
  return absl::OkStatus();
}

absl::Status AofDirectory::CheckNothingWithoutManifest() {
  const auto names = files_.List(directory_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!IsOurs(name) || absl::StartsWith(name, std::string(kTemporary))) continue;
    auto file = files_.OpenForRead(Path(name));
    if (!file.ok()) return file.status();
    const auto size = (*file)->Size();
    if (!size.ok()) return size.status();
    // An empty file may be a leftover: the first log is still empty when its manifest is written. A
    // file with data is not.
    if (*size > 0) {
      return absl::FailedPreconditionError(
          absl::StrCat(ManifestPath(), " is missing, but ", Path(name), " holds data"));
    }
  }
  return absl::OkStatus();
}

absl::Status AofDirectory::WriteManifest(const std::string& path, const Manifest& next) {
  const std::string text = next.Format();
  // The next start would refuse to read a longer manifest.
  if (text.size() > kMaxManifestBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat(ManifestPath(), " would be longer than ", kMaxManifestBytes, " bytes"));
  }
  auto file = files_.Create(path);
  if (!file.ok()) return file.status();
  absl::Status status = AppendAll(**file, text);
  if (status.ok()) status = (*file)->Sync();
  // The files that the manifest lists must be durable before the manifest is.
  if (status.ok()) status = files_.SyncDirectory(directory_);
  if (!status.ok()) files_.Remove(path).IgnoreError();
  return status;
}

absl::Status AofDirectory::Publish(const Manifest& next) {
  const std::string temporary =
      Path(absl::StrCat(std::string(kTemporary), base_name_, ".manifest"));
  absl::Status status = WriteManifest(temporary, next);
  if (!status.ok()) return status;
  uncertain_ = true;
  status = files_.Rename(temporary, ManifestPath());
  if (status.ok()) status = files_.SyncDirectory(directory_);
  if (!status.ok()) return status;
  uncertain_ = false;
  manifest_ = next;
  return absl::OkStatus();
}

absl::Status AofDirectory::MoveTo(const std::string& directory) {
  absl::Status status = files_.Rename(directory_, directory);
  if (!status.ok()) return status;
  directory_ = directory;
  return files_.SyncDirectory(FolderOf(directory));
}

absl::StatusOr<AofDirectory::NewLog> AofDirectory::CreateLog() {
  NewLog log{++last_log_sequence_, nullptr};
  auto file = files_.Create(Path(LogName(log.sequence)));
  if (!file.ok()) return file.status();
  log.file = std::move(*file);
  unpublished_.insert(LogName(log.sequence));
  return log;
}

absl::Status AofDirectory::PublishLog(uint64_t after, uint64_t sequence) {
  Manifest next = manifest_;
  std::erase_if(next.logs, [&](const ManifestEntry& log) { return log.sequence > after; });
  next.logs.push_back({LogName(sequence), sequence});
  const absl::Status status = Publish(next);
  if (status.ok()) unpublished_.erase(LogName(sequence));
  return status;
}

absl::StatusOr<AofDirectory::NewLog> AofDirectory::AddLog(uint64_t after) {
  auto log = CreateLog();
  if (!log.ok()) return log;
  absl::Status status = PublishLog(after, log->sequence);
  if (status.ok()) return log;
  AbandonLog(log->sequence);
  return status;
}

absl::Status AofDirectory::RetractLog(uint64_t sequence) {
  Manifest next = manifest_;
  std::erase_if(next.logs, [&](const ManifestEntry& log) { return log.sequence == sequence; });
  // A base without a log after it could not be loaded. An empty log does no harm, so it stays.
  if (next.logs.empty() && next.base.has_value()) return absl::OkStatus();
  const absl::Status status = Publish(next);
  if (status.ok()) Abandon(LogName(sequence));
  return status;
}

void AofDirectory::AbandonLog(uint64_t sequence) { Abandon(LogName(sequence)); }

void AofDirectory::AbandonBase(uint64_t sequence) {
  Abandon(std::string(kTemporary) + BaseName(sequence));
}

void AofDirectory::Abandon(const std::string& name) {
  unpublished_.erase(name);
  // A file that is not removed now is removed by RemoveObsolete, at the latest at the next start.
  if (!uncertain_) files_.Remove(Path(name)).IgnoreError();
}

absl::StatusOr<AofDirectory::NewBase> AofDirectory::CreateBase() {
  NewBase base{++last_base_sequence_, nullptr};
  const std::string name = std::string(kTemporary) + BaseName(base.sequence);
  auto file = files_.Create(Path(name));
  if (!file.ok()) return file.status();
  base.file = std::move(*file);
  unpublished_.insert(name);
  return base;
}

absl::Status AofDirectory::PublishBase(uint64_t sequence, uint64_t first_log) {
  const std::string name = BaseName(sequence);
  const std::string temporary = std::string(kTemporary) + name;
  absl::Status status = files_.Rename(Path(temporary), Path(name));
  if (!status.ok()) return status;
  unpublished_.erase(temporary);
  Manifest next = manifest_;
  next.base = ManifestEntry{name, sequence};
  std::erase_if(next.logs, [&](const ManifestEntry& log) { return log.sequence < first_log; });
  status = Publish(next);
  if (!status.ok()) Abandon(name);
  return status;
}

absl::Status AofDirectory::Clear() {
  if (manifest_.empty() && !uncertain_) return absl::OkStatus();
  const absl::Status status = Publish(Manifest());
  // What cannot be removed now is removed by the next rewrite.
  if (status.ok()) RemoveObsolete().IgnoreError();
  return status;
}

absl::Status AofDirectory::RemoveObsolete() {
  if (uncertain_) {
    const absl::Status published = Publish(manifest_);
    if (!published.ok()) return published;
  }
  const auto names = files_.List(directory_);
  if (!names.ok()) return names.status();
  absl::Status result;
  for (const std::string& name : *names) {
    if (!IsOurs(name) || manifest_.Lists(name) || unpublished_.contains(name)) continue;
    result.Update(files_.Remove(Path(name)));
  }
  return result;
}

}  // namespace tally::server
