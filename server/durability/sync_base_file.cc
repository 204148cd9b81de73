#include "server/durability/sync_base_file.h"

#include <memory>
#include <utility>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

class OpenedBase final : public SyncFile {
 public:
  explicit OpenedBase(std::unique_ptr<File> file) : file_(std::move(file)) {}

  // A base has left the page cache as it was written. The loop must not wait for the disk, so each
  // stretch is asked for while the one before it is sent.
  absl::Status ReadAt(uint64_t offset, std::span<char> out) const override {
    constexpr uint64_t kStretchBytes = uint64_t{1} << 20;
    if (offset % kStretchBytes < out.size()) file_->ReadAhead(offset, offset + 2 * kStretchBytes);
    const auto read = ReadFull(*file_, offset, out);
    if (!read.ok()) return read.status();
    if (*read == out.size()) return absl::OkStatus();
    return absl::DataLossError(StrCat(file_->path(), " is shorter than it was"));
  }

 private:
  const std::unique_ptr<File> file_;
};

}  // namespace

absl::StatusOr<SyncBase> OpenSyncBase(FileSystem& files, const std::string& path,
                                      const std::string& id, uint64_t offset) {
  auto file = files.OpenForRead(path);
  if (!file.ok()) return file.status();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.status();
  return SyncBase{std::make_unique<OpenedBase>(std::move(*file)), *size, id, offset};
}

}  // namespace tally::server
