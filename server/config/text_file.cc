#include "server/config/text_file.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

// These files are small. A huge one is a mistake, such as the path of a device.
constexpr size_t kMaxFileBytes = size_t{16} << 20;

absl::Status FileError(const char* what, const std::string& path) {
  return absl::ErrnoToStatus(errno, StrCat(what, " '", path, "'"));
}

// A descriptor that is closed at the end of its scope.
class TextFile {
 public:
  explicit TextFile(int descriptor) : descriptor_(descriptor) {}
  ~TextFile() {
    if (descriptor_ > STDERR_FILENO) ::close(descriptor_);
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;

  int get() const { return descriptor_; }
  bool IsOpen() const { return descriptor_ >= 0; }

 private:
  const int descriptor_;
};

bool WriteAndSync(const TextFile& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return ::fsync(file.get()) == 0;
}

void SyncDirectoryOf(const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const TextFile file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.IsOpen()) ::fsync(file.get());
}

}  // namespace

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  const bool is_stdin = path == "-";
  const TextFile file(is_stdin ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.IsOpen()) return FileError("can't open", path);
  std::string text;
  char buffer[16384];
  for (;;) {
    const ssize_t count = ::read(file.get(), buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return FileError("can't read", path);
    if (count == 0) return text;
    text.append(buffer, static_cast<size_t>(count));
    if (text.size() > kMaxFileBytes) {
      return absl::InvalidArgumentError(StrCat("'", path, "' is too large for text of its kind"));
    }
  }
}

std::vector<std::string> MatchingFiles(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found{};
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return paths;
}

absl::Status ReplaceTextFile(const std::string& path, std::string_view text) {
  struct stat old{};
  const mode_t mode = ::stat(path.c_str(), &old) == 0 ? old.st_mode & 07777 : 0600;
  const std::string temporary = StrCat(path, ".tmp-", ::getpid());
  const TextFile file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.IsOpen()) return FileError("can't create", temporary);
  const bool written = ::fchmod(file.get(), mode) == 0 && WriteAndSync(file, text);
  if (!written || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const absl::Status status = FileError("can't write", temporary);
    ::unlink(temporary.c_str());
    return status;
  }
  SyncDirectoryOf(path);
  return absl::OkStatus();
}

}  // namespace tally::server
