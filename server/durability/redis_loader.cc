#include "server/durability/redis_loader.h"

#include <span>
#include <utility>

#include "core/bytes/str_cat.h"

namespace tally::server {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 20;
// A key in an RDB has its type, its length, its value's length: a file of a size has no more keys
// than this allows.
constexpr uint64_t kLeastKeyBytes = 3;

}  // namespace

// The bytes of a file in chunks.
class RedisLoader::Source final : public rdb::ByteSource {
 public:
  explicit Source(File& file) : file_(file), buffer_(kChunkBytes, '\0') {}

  absl::StatusOr<std::string_view> Next() override {
    const auto count = file_.ReadAt(offset_, std::span(buffer_));
    if (!count.ok()) return count.status();
    offset_ += *count;
    return std::string_view(buffer_.data(), *count);
  }

 private:
  File& file_;
  uint64_t offset_ = 0;
  std::string buffer_;
};

RedisLoader::RedisLoader(const Parts& parts, RedisFiles redis)
    : parts_(parts),
      redis_(std::move(redis)),
      sink_(parts.engine, parts.config, skipped_,
            {.keep_expired = redis_.is_log || parts.options.keep_expired,
             .drop_field_deadlines = parts.options.drop_field_deadlines}),
      replay_(parts.commands, parts.runner, skipped_,
              {.drop_field_deadlines = parts.options.drop_field_deadlines}) {}

RedisLoader::~RedisLoader() = default;

absl::StatusOr<std::unique_ptr<RedisLoader>> RedisLoader::Open(const Parts& parts,
                                                               RedisFiles redis) {
  std::unique_ptr<RedisLoader> loader(new RedisLoader(parts, std::move(redis)));
  if (absl::Status status = loader->OpenFiles(); !status.ok()) return status;
  return loader;
}

absl::Status RedisLoader::OpenFiles() {
  for (const std::string& path : redis_.paths) {
    auto file = parts_.files.OpenForRead(path);
    if (!file.ok()) return file.status();
    const auto size = (*file)->Size();
    if (!size.ok()) return size.status();
    bytes_total_ += *size;
    inputs_.push_back({std::move(*file), *size});
  }
  return absl::OkStatus();
}

absl::Status RedisLoader::AtFile(const absl::Status& status) const {
  if (status.code() != absl::StatusCode::kDataLoss) return status;
  return absl::DataLossError(StrCat(input().file->path(), " ", std::string(status.message())));
}

absl::StatusOr<bool> RedisLoader::Step(int64_t now_ms) {
  if (current_ == inputs_.size()) return false;
  if (!begun_) {
    if (absl::Status status = BeginFile(); !status.ok()) return status;
  }
  const auto more = snapshot_ != nullptr ? StepSnapshot(now_ms) : StepLog();
  if (!more.ok()) return more.status();
  if (*more) return true;
  if (absl::Status status = EndFile(); !status.ok()) return status;
  return current_ < inputs_.size();
}

// A log that begins as a snapshot does has one in front.
absl::Status RedisLoader::BeginFile() {
  begun_ = true;
  replay_.SelectFirst();
  char first = '\0';
  const auto count = input().file->ReadAt(0, std::span(&first, 1));
  if (!count.ok()) return count.status();
  if (redis_.is_log && (*count == 0 || first == '*' || first == '#')) {
    log_ = std::make_unique<RedisLogReader>(*input().file, 0, input().size);
    whole_end_ = 0;
    return absl::OkStatus();
  }
  source_ = std::make_unique<Source>(*input().file);
  sink_.set_most_keys(input().size / kLeastKeyBytes);
  snapshot_ = std::make_unique<rdb::RdbReader>(*source_, sink_);
  return absl::OkStatus();
}

absl::StatusOr<bool> RedisLoader::StepSnapshot(int64_t now_ms) {
  sink_.set_now(now_ms);
  const auto more = snapshot_->Next();
  if (!more.ok()) return AtFile(more.status());
  if (*more) return true;
  const uint64_t end = snapshot_->offset();
  snapshot_ = nullptr;
  source_ = nullptr;
  if (!redis_.is_log && end != input().size) {
    return absl::DataLossError(StrCat(input().file->path(), " offset ", end,
                                      ": something follows the end of the snapshot"));
  }
  log_ = std::make_unique<RedisLogReader>(*input().file, end, input().size);
  whole_end_ = end;
  return true;
}

absl::StatusOr<bool> RedisLoader::StepLog() {
  using LogStep = RedisLogReader::Step;
  const uint64_t begin = log_->offset();
  const auto step = log_->Next();
  if (!step.ok()) return step.status();
  if (*step == LogStep::kEnd && !replay_.in_transaction()) whole_end_ = log_->offset();
  if (*step != LogStep::kCommand) {
    if (absl::Status status = EndLog(); !status.ok()) return status;
    return false;
  }
  if (absl::Status status = replay_.Take(log_->args()); !status.ok()) {
    return absl::Status(status.code(), StrCat(input().file->path(), " offset ", begin, ": ",
                                              std::string(status.message())));
  }
  if (!replay_.in_transaction()) whole_end_ = log_->offset();
  return true;
}

// What is left after the last whole command and transaction.
absl::Status RedisLoader::EndLog() {
  replay_.DropTransaction();
  log_ = nullptr;
  torn_bytes_ = input().size - whole_end_;
  if (torn_bytes_ == 0) return absl::OkStatus();
  const bool is_last = current_ + 1 == inputs_.size();
  if (is_last && parts_.config.aof_load_truncated) return absl::OkStatus();
  return absl::DataLossError(
      StrCat(input().file->path(), " offset ", whole_end_, ": the file ends within a command or a ",
             "transaction (", torn_bytes_, " bytes)",
             is_last ? ", and aof-load-truncated is no" : ", and another file follows"));
}

absl::Status RedisLoader::EndFile() {
  const auto size = input().file->Size();
  if (!size.ok()) return size.status();
  if (*size != input().size) {
    return absl::FailedPreconditionError(
        StrCat(input().file->path(), " has changed while it was read: is Redis still running?"));
  }
  bytes_before_ += input().size;
  ++current_;
  begun_ = false;
  return absl::OkStatus();
}

uint64_t RedisLoader::bytes_done() const {
  const uint64_t here = snapshot_ != nullptr ? snapshot_->offset()
                        : log_ != nullptr    ? log_->offset()
                                             : 0;
  return bytes_before_ + here;
}

std::string RedisLoader::LeftOut() const {
  std::string text;
  if (sink_.expired() > 0) StrAppend(text, sink_.expired(), " keys that had expired");
  if (sink_.empty() > 0) {
    StrAppend(text, text.empty() ? "" : ", ", sink_.empty(), " keys without elements");
  }
  return text;
}

}  // namespace tally::server
