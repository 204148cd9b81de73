// The directory of the append-only file: which files are the data set, and how they are replaced.
//
// Every change is one rename of the manifest between two syncs, so a crash at any call leaves
// either the whole old set or the whole new set. Calls may come from any thread but must not
// overlap.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/aof/file_system.h"
#include "server/aof/manifest.h"

namespace tally::server {

class AofDirectory {
 public:
  struct NewLog {
    uint64_t sequence = 0;
    std::unique_ptr<File> file;
  };
  struct NewBase {
    uint64_t sequence = 0;
    std::unique_ptr<File> file;
  };

  // Opens or creates `directory`, locks it against a second server, reads the manifest and removes
  // what earlier crashes left behind. FailedPrecondition if data files exist without a manifest or
  // Redis wrote the manifest, DataLoss if the manifest is damaged, Unavailable if the lock is held.
  static absl::StatusOr<std::unique_ptr<AofDirectory>> Open(FileSystem& files,
                                                            const std::string& directory,
                                                            const std::string& base_name);
  // The same for reading only: nothing is created, locked or removed.
  static absl::StatusOr<std::unique_ptr<AofDirectory>> OpenForInspection(
      FileSystem& files, const std::string& directory, const std::string& base_name);

  // Takes the lock that Open takes. Unavailable if it is held.
  static absl::StatusOr<std::unique_ptr<File>> Lock(FileSystem& files, const std::string& directory,
                                                    const std::string& base_name);

  FileSystem& files() const { return files_; }
  // The last set that is certain to be on disk.
  const Manifest& manifest() const { return manifest_; }
  std::string PathOf(const ManifestEntry& entry) const { return Path(entry.name); }
  std::string ManifestPath() const { return Path(base_name_ + ".manifest"); }

  // Renames the directory, which must not be there yet or be empty.
  absl::Status MoveTo(const std::string& directory);

  // Creates an empty log that is in no manifest yet.
  absl::StatusOr<NewLog> CreateLog();
  // Publishes a manifest in which the log `sequence` follows the log `after` (0: it follows
  // nothing); all logs after `after` leave the manifest. The content of the new log must be on disk
  // before.
  absl::Status PublishLog(uint64_t after, uint64_t sequence);
  // CreateLog, then PublishLog: the first step of a rewrite, with `after` = LogWriter::sequence().
  // LogWriter::SwitchTo takes the result; the snapshot is then continued in that log.
  absl::StatusOr<NewLog> AddLog(uint64_t after);
  // Gives up a log that CreateLog made, and removes its file unless the manifest on disk may list
  // it.
  void AbandonLog(uint64_t sequence);
  // Removes a log that AddLog made, and to which nobody has written, from the manifest. Does
  // nothing if it is the only log after a base.
  absl::Status RetractLog(uint64_t sequence);

  // Creates the file of a new base under a temporary name.
  absl::StatusOr<NewBase> CreateBase();
  // Publishes a manifest in which this base replaces the old base and all logs before `first_log`.
  // The base must be complete and synced.
  absl::Status PublishBase(uint64_t sequence, uint64_t first_log);
  // Gives up a base that CreateBase made and that is not published; removes its file.
  void AbandonBase(uint64_t sequence);

  // The set has no files any more; what is written next is a new one.
  absl::Status Clear();

  // Removes the files that the manifest does not need, after it has made sure which manifest is on
  // disk. Slow for large files; may run later.
  absl::Status RemoveObsolete();

 private:
  AofDirectory(FileSystem& files, std::string directory, std::string base_name);

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string LogName(uint64_t sequence) const;
  std::string BaseName(uint64_t sequence) const;
  absl::Status ReadManifest();
  absl::Status CheckNothingWithoutManifest();
  // Returns true for the names of the data files that this class creates. No other file is ever
  // removed.
  bool IsOurs(const std::string& name) const;
  void Abandon(const std::string& name);
  absl::Status WriteManifest(const std::string& path, const Manifest& next);
  absl::Status Publish(const Manifest& next);

  FileSystem& files_;
  std::string directory_;
  std::string base_name_;
  std::unique_ptr<File> lock_;
  Manifest manifest_;
  uint64_t last_log_sequence_ = 0;
  uint64_t last_base_sequence_ = 0;
  std::set<std::string> unpublished_;  // files being written, which RemoveObsolete leaves alone
  // True if a manifest was renamed into place but is not known to be on disk. Then nothing may be
  // removed until the next manifest is known to be on disk.
  bool uncertain_ = false;
};

}  // namespace tally::server
