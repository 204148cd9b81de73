// All disk access of the append-only file goes through this interface, so that tests can make any
// single call fail, stop, or write only a part. The real implementation is PosixFileSystem.
//
// Errors of the operating system are absl::Status with the errno's canonical code; the message
// names the call and the path. No call is retried except after EINTR.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/aof/background_worker.h"

namespace tally::server {

// One open file; the destructor closes it. Nobody else writes to the file. Sync may run in another
// thread at the same time as Append.
class File {
 public:
  virtual ~File() = default;

  virtual const std::string& path() const = 0;
  // One read: the count may be short, and is 0 only at or after the end of the file.
  virtual absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<char> out) = 0;
  // One write at the end of the file: the count may be short.
  virtual absl::StatusOr<size_t> Append(std::string_view bytes) = 0;
  // One write over existing bytes, within the file: the count may be short.
  virtual absl::StatusOr<size_t> Overwrite(uint64_t offset, std::string_view bytes) = 0;
  // fdatasync: content and length are on disk. After a failure nothing that was written since the
  // last successful Sync can be trusted, even if a later Sync succeeds: the kernel has dropped the
  // dirty pages.
  virtual absl::Status Sync() = 0;
  // A hint that the disk should begin to take the bytes [from, to). It may wait for room in the
  // disk's queue, so it is for a thread. It proves nothing: that is for Sync.
  virtual void WriteBack(uint64_t from, uint64_t to) = 0;
  // A hint that the bytes [from, to) will not be read soon: those that are on disk need not stay in
  // the page cache. O(bytes), even where they have left it.
  virtual void DropCached(uint64_t from, uint64_t to) = 0;
  // A hint that they will be: the disk begins to bring them, and nobody waits for that here.
  virtual void ReadAhead(uint64_t from, uint64_t to) = 0;
  virtual absl::Status Truncate(uint64_t size) = 0;
  virtual absl::StatusOr<uint64_t> Size() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual absl::StatusOr<std::unique_ptr<File>> OpenForRead(const std::string& path) = 0;
  // Opens an existing file, for appending and reading.
  virtual absl::StatusOr<std::unique_ptr<File>> OpenForAppend(const std::string& path) = 0;
  // Creates an empty file, for appending and reading. If a file of that name exists, it is emptied.
  virtual absl::StatusOr<std::unique_ptr<File>> Create(const std::string& path) = 0;
  // Takes an exclusive advisory lock, which is held until the returned file is destroyed.
  // Unavailable if another process holds it.
  virtual absl::StatusOr<std::unique_ptr<File>> Lock(const std::string& path) = 0;

  // Replaces `to` atomically. The change is durable only after SyncDirectory.
  virtual absl::Status Rename(const std::string& from, const std::string& to) = 0;
  // Removes a file, or a directory that is empty.
  virtual absl::Status Remove(const std::string& path) = 0;
  // OK also when the directory exists.
  virtual absl::Status CreateDirectory(const std::string& path) = 0;
  virtual absl::Status SyncDirectory(const std::string& path) = 0;
  // The names in a directory, sorted, without "." and "..".
  virtual absl::StatusOr<std::vector<std::string>> List(const std::string& path) = 0;

  // Returns a worker that makes slow calls on these files while the caller continues.
  virtual std::unique_ptr<BackgroundWorker> NewWorker() = 0;
};

class PosixFileSystem final : public FileSystem {
 public:
  absl::StatusOr<std::unique_ptr<File>> OpenForRead(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<File>> OpenForAppend(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<File>> Create(const std::string& path) override;
  absl::StatusOr<std::unique_ptr<File>> Lock(const std::string& path) override;
  absl::Status Rename(const std::string& from, const std::string& to) override;
  absl::Status Remove(const std::string& path) override;
  absl::Status CreateDirectory(const std::string& path) override;
  absl::Status SyncDirectory(const std::string& path) override;
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override;
  std::unique_ptr<BackgroundWorker> NewWorker() override;
};

// Appends all of `bytes`; continues after short writes.
absl::Status AppendAll(File& file, std::string_view bytes);
// Reads until `out` is full or the file ends; returns the bytes read.
absl::StatusOr<size_t> ReadFull(File& file, uint64_t offset, std::span<char> out);
// Reads the bytes [from, to) and writes them to the same place, so that a crash meanwhile changes
// nothing: their pages are dirty again, and the next Sync really writes them. DataLoss if the file
// is shorter.
absl::Status WriteAgain(File& file, uint64_t from, uint64_t to);
// Returns the whole content of a small file. OutOfRange if it is longer than `limit` bytes.
absl::StatusOr<std::string> ReadSmallFile(FileSystem& files, const std::string& path, size_t limit);

// The folder that a file or a folder is in: "." for a name alone.
std::string FolderOf(const std::string& path);

}  // namespace tally::server
