#include "server/durability/rdb_export.h"

#include <string_view>

#include "server/config/version.h"
#include "server/rdb/rdb_output.h"
#include "server/rdb/rdb_writer.h"

namespace tally::server {
namespace {

class FileTarget final : public rdb::ByteTarget {
 public:
  explicit FileTarget(File& file) : file_(file) {}
  absl::Status Append(std::string_view bytes) override { return AppendAll(file_, bytes); }

 private:
  File& file_;
};

absl::Status WriteAndSync(Engine& engine, int64_t now_ms, FileSystem& files,
                          const std::string& path) {
  auto file = files.Create(path);
  if (!file.ok()) return file.status();
  FileTarget target(**file);
  absl::Status status = rdb::WriteRdb(engine, {.version = kRedisVersion, .now_ms = now_ms}, target);
  return status.ok() ? (*file)->Sync() : status;
}

}  // namespace

absl::Status ExportRdb(Engine& engine, int64_t now_ms, FileSystem& files, const std::string& path) {
  const std::string temporary = path + ".temp";
  absl::Status status = WriteAndSync(engine, now_ms, files, temporary);
  if (status.ok()) status = files.Rename(temporary, path);
  if (!status.ok()) {
    files.Remove(temporary).IgnoreError();
    return status;
  }
  return files.SyncDirectory(FolderOf(path));
}

}  // namespace tally::server
