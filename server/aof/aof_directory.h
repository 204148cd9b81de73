// The directory of the append-only file: which files are the data set, and how they are replaced.
//
// Every change is one rename of the manifest between two syncs, so that a crash at any call leaves
// either the old or the new set whole. Calls may come from any thread but must not overlap.
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
  // what earlier crashes left behind. FailedPrecondition when data files exist without a manifest,
  // DataLoss when the manifest is damaged, Unavailable when the lock is held.
  static absl::StatusOr<std::unique_ptr<AofDirectory>> Open(FileSystem& files,
                                                            const std::string& directory,
                                                            const std::string& base_name);
  // The same for reading only: nothing is created, locked or removed.
  static absl::StatusOr<std::unique_ptr<AofDirectory>> OpenForInspection(
      FileSystem& files, const std::string& directory, const std::string& base_name);

  // What Open locks.
  static absl::StatusOr<std::unique_ptr<File>> Lock(FileSystem& files, const std::string& directory,
                                                    const std::string& base_name);

  FileSystem& files() const { return files_; }
  // The set that is certain to be on disk.
  const Manifest& manifest() const { return manifest_; }
  std::string PathOf(const ManifestEntry& entry) const { return Path(entry.name); }
  std::string ManifestPath() const { return Path(base_name_ + ".manifest"); }

  // Creates an empty log that is in no manifest yet.
  absl::StatusOr<NewLog> CreateLog();
  // Makes the log `sequence` follow the log `after` (0: follow nothing); what the manifest listed
  // after `after` leaves it. The log's own content must be on disk before.
  absl::Status PublishLog(uint64_t after, uint64_t sequence);
  // CreateLog and PublishLog: the first step of a rewrite, with `after` the writer's sequence().
  // LogWriter::SwitchTo takes the result; the snapshot then continues in that log.
  absl::StatusOr<NewLog> AddLog(uint64_t after);
  // Gives up a log that was created, unless it may be listed already.
  void AbandonLog(uint64_t sequence);
  // Takes a log that AddLog has listed, and that nobody has written to, off the list again, unless
  // it is the only one after a base.
  absl::Status RetractLog(uint64_t sequence);

  // Creates the file of a new base under a temporary name.
  absl::StatusOr<NewBase> CreateBase();
  // The base, complete and synced, replaces the old base and all logs before `first_log`.
  absl::Status PublishBase(uint64_t sequence, uint64_t first_log);
  // Gives up a base that was created and not published.
  void AbandonBase(uint64_t sequence);

  // Removes the files that no manifest needs any more, once it is certain which manifest is on
  // disk. Slow for large files; may run later.
  absl::Status RemoveObsolete();

 private:
  AofDirectory(FileSystem& files, std::string directory, std::string base_name);

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }
  std::string LogName(uint64_t sequence) const;
  std::string BaseName(uint64_t sequence) const;
  absl::Status ReadManifest();
  absl::Status CheckNothingWithoutManifest();
  // True for the data files that this class creates; nothing else is ever removed.
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
  // A manifest was renamed into place, but whether that is on disk is not known: until the next
  // one is, nothing may be removed.
  bool uncertain_ = false;
};

}  // namespace tally::server
