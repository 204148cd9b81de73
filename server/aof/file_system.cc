#include "server/aof/file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/aof/background_thread.h"

namespace tally::server {
namespace {

absl::Status ErrorOf(std::string_view call, const std::string& path) {
  return absl::ErrnoToStatus(errno, absl::StrCat(std::string(call), " ", path));
}

// Repeats a system call that a signal interrupted.
template <typename Call>
auto WithoutInterrupt(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

// Whether to close it may take long: when nothing else has a removed file open, the kernel gives
// back its blocks then, 200 MB in some 50 ms.
bool IsLargeAndRemoved(int descriptor) {
  constexpr off_t kLargeBytes = off_t{4} << 20;
  struct stat status{};
  return ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0 &&
         status.st_size >= kLargeBytes;
}

// In a thread if it takes long, so the room on the disk may come a moment later.
void Close(int descriptor) {
  if (IsLargeAndRemoved(descriptor)) {
    try {
      return std::thread([descriptor] { ::close(descriptor); }).detach();
    } catch (const std::system_error&) {
      // The system gives no thread: then the caller has to wait.
    }
  }
  ::close(descriptor);
}

class PosixFile final : public File {
 public:
  PosixFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  PosixFile(const PosixFile&) = delete;
  PosixFile& operator=(const PosixFile&) = delete;
  ~PosixFile() override { Close(descriptor_); }

  // Makes Append write after the existing content.
  absl::Status SeekEnd() {
    const auto size = Size();
    if (size.ok()) end_ = *size;
    return size.status();
  }

  const std::string& path() const override { return path_; }

  absl::StatusOr<size_t> ReadAt(uint64_t offset, std::span<char> out) override {
    const ssize_t count = WithoutInterrupt(
        [&] { return ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset)); });
    if (count < 0) return ErrorOf(absl::StrCat("read at offset ", offset, " of"), path_);
    return static_cast<size_t>(count);
  }

  absl::StatusOr<size_t> Append(std::string_view bytes) override {
    const auto count = Overwrite(end_, bytes);
    if (count.ok()) end_ += *count;
    return count;
  }

  absl::StatusOr<size_t> Overwrite(uint64_t offset, std::string_view bytes) override {
    const ssize_t count = WithoutInterrupt([&] {
      return ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    });
    if (count < 0) return ErrorOf("write", path_);
    return static_cast<size_t>(count);
  }

  absl::Status Sync() override {
    if (WithoutInterrupt([&] { return ::fdatasync(descriptor_); }) == 0) return absl::OkStatus();
    return ErrorOf("fdatasync", path_);
  }

  void WriteBack(uint64_t from, uint64_t to) override {
    ::sync_file_range(descriptor_, static_cast<off_t>(from), static_cast<off_t>(to - from),
                      SYNC_FILE_RANGE_WRITE);
  }
  void DropCached(uint64_t from, uint64_t to) override { Advise(from, to, POSIX_FADV_DONTNEED); }
  void ReadAhead(uint64_t from, uint64_t to) override { Advise(from, to, POSIX_FADV_WILLNEED); }

  absl::Status Truncate(uint64_t size) override {
    const int result =
        WithoutInterrupt([&] { return ::ftruncate(descriptor_, static_cast<off_t>(size)); });
    if (result != 0) return ErrorOf("truncate", path_);
    end_ = size;
    return absl::OkStatus();
  }

  // Returns false and sets errno if the file is already locked or cannot be locked.
  bool TryLock() { return ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0; }

  absl::StatusOr<uint64_t> Size() override {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0) return ErrorOf("stat", path_);
    return static_cast<uint64_t>(status.st_size);
  }

 private:
  void Advise(uint64_t from, uint64_t to, int advice) const {
    ::posix_fadvise(descriptor_, static_cast<off_t>(from), static_cast<off_t>(to - from), advice);
  }

  int descriptor_;
  std::string path_;
  uint64_t end_ = 0;  // where Append writes
};

const char* KindOf(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISDIR(mode)) return "a directory";
  return "a device";
}

// An error if something that is no file is in the place of the file (or of the directory). To open
// a FIFO would wait for its other end, and to write to a device would keep nothing.
absl::Status CheckKind(const std::string& path, bool wants_directory) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return absl::OkStatus();  // open says why
  const bool is_wanted = wants_directory ? S_ISDIR(status.st_mode) : S_ISREG(status.st_mode);
  if (is_wanted || S_ISREG(status.st_mode)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("open ", path, ": it is ", KindOf(status.st_mode), ", not a file"));
}

absl::StatusOr<std::unique_ptr<PosixFile>> OpenFile(const std::string& path, int flags) {
  const bool wants_directory = (flags & O_DIRECTORY) != 0;
  if (absl::Status kind = CheckKind(path, wants_directory); !kind.ok()) return kind;
  const int descriptor =
      WithoutInterrupt([&] { return ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0644); });
  if (descriptor < 0) return ErrorOf("open", path);
  auto file = std::make_unique<PosixFile>(descriptor, path);
  if (absl::Status status = file->SeekEnd(); !status.ok()) return status;
  return file;
}

}  // namespace

absl::StatusOr<std::unique_ptr<File>> PosixFileSystem::OpenForRead(const std::string& path) {
  return OpenFile(path, O_RDONLY);
}

absl::StatusOr<std::unique_ptr<File>> PosixFileSystem::OpenForAppend(const std::string& path) {
  return OpenFile(path, O_RDWR);
}

absl::StatusOr<std::unique_ptr<File>> PosixFileSystem::Create(const std::string& path) {
  return OpenFile(path, O_RDWR | O_CREAT | O_TRUNC);
}

absl::StatusOr<std::unique_ptr<File>> PosixFileSystem::Lock(const std::string& path) {
  auto file = OpenFile(path, O_RDWR | O_CREAT);
  if (!file.ok()) return file.status();
  if ((*file)->TryLock()) return file;
  if (errno != EWOULDBLOCK) return ErrorOf("lock", path);
  return absl::UnavailableError(absl::StrCat(path, " is locked: another server uses it"));
}

absl::Status PosixFileSystem::Rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return ErrorOf(absl::StrCat("rename ", from, " to"), to);
}

absl::Status PosixFileSystem::Remove(const std::string& path) {
  // While it is open, to remove it takes no time; see Close.
  const auto file = OpenFile(path, O_RDONLY);
  return std::remove(path.c_str()) == 0 ? absl::OkStatus() : ErrorOf("remove", path);
}

absl::Status PosixFileSystem::CreateDirectory(const std::string& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return absl::OkStatus();
  return ErrorOf("create directory", path);
}

absl::Status PosixFileSystem::SyncDirectory(const std::string& path) {
  auto directory = OpenFile(path, O_RDONLY | O_DIRECTORY);
  if (!directory.ok()) return directory.status();
  return (*directory)->Sync();
}

absl::StatusOr<std::vector<std::string>> PosixFileSystem::List(const std::string& path) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return ErrorOf("list", path);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(directory)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  const int failure = errno;
  ::closedir(directory);
  errno = failure;
  if (failure != 0) return ErrorOf("list", path);
  std::sort(names.begin(), names.end());
  return names;
}

std::unique_ptr<BackgroundWorker> PosixFileSystem::NewWorker() {
  return std::make_unique<BackgroundThread>();
}

absl::Status AppendAll(File& file, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = file.Append(bytes);
    if (!count.ok()) return count.status();
    if (*count == 0) return absl::DataLossError(absl::StrCat("no progress writing ", file.path()));
    bytes.remove_prefix(*count);
  }
  return absl::OkStatus();
}

absl::StatusOr<size_t> ReadFull(File& file, uint64_t offset, std::span<char> out) {
  size_t filled = 0;
  while (filled < out.size()) {
    const auto count = file.ReadAt(offset + filled, out.subspan(filled));
    if (!count.ok()) return count.status();
    if (*count == 0) break;
    filled += *count;
  }
  return filled;
}

absl::Status WriteAgain(File& file, uint64_t from, uint64_t to) {
  constexpr size_t kCopyBytes = size_t{1} << 20;
  std::string bytes(std::min<uint64_t>(to - from, kCopyBytes), '\0');
  while (from < to) {
    bytes.resize(std::min<uint64_t>(to - from, kCopyBytes));
    const auto count = ReadFull(file, from, bytes);
    if (!count.ok()) return count.status();
    if (*count < bytes.size()) {
      return absl::DataLossError(absl::StrCat(file.path(), " has become shorter"));
    }
    for (std::string_view rest = bytes; !rest.empty();) {
      const auto written = file.Overwrite(from, rest);
      if (!written.ok()) return written.status();
      if (*written == 0)
        return absl::DataLossError(absl::StrCat("no progress writing ", file.path()));
      rest.remove_prefix(*written);
      from += *written;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadSmallFile(FileSystem& files, const std::string& path,
                                          size_t limit) {
  auto file = files.OpenForRead(path);
  if (!file.ok()) return file.status();
  std::string content(limit + 1, '\0');
  const auto size = ReadFull(**file, 0, content);
  if (!size.ok()) return size.status();
  if (*size > limit) {
    return absl::OutOfRangeError(absl::StrCat(path, " is longer than ", limit, " bytes"));
  }
  content.resize(*size);
  return content;
}

std::string FolderOf(const std::string& path) {
  const size_t last = path.find_last_not_of('/');
  const size_t end = path.rfind('/', last);
  if (end == std::string::npos) return ".";
  return end == 0 ? "/" : path.substr(0, end);
}

}  // namespace tally::server
