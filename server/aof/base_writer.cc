#include "server/aof/base_writer.h"

#include <utility>

#include "core/base/check.h"
#include "core/bytes/recycle.h"
#include "core/bytes/varint.h"
#include "server/aof/crc32c.h"

namespace tally::server {
namespace {

// The buffer of the bytes being written is freed once it has grown beyond this many syncs' bytes.
constexpr size_t kMostKeptSyncs = 8;

}  // namespace

BaseWriter::BaseWriter(FileSystem& files, std::unique_ptr<File> file, const BaseHeader& header,
                       const Options& options)
    : file_(std::move(file)), options_(options), worker_(files.NewWorker()) {
  Check(options.block_bytes >= 1 && options.block_bytes <= kMaxPartBytes, "block size in range");
  queued_ = kBaseMagic;
  PutLittleEndian(kBaseVersion, queued_);
  PutLittleEndian(header.created_unix_ms, queued_);
  PutLittleEndian(header.sequence, queued_);
  PutLittleEndian(header.first_log, queued_);
  PutLittleEndian(header.first_offset, queued_);
  PutLittleEndian(header.first_crc, queued_);
  crc_ = ExtendCrc32c(0, queued_);
  PutLittleEndian(crc_, queued_);
  Check(queued_.size() == kBaseHeaderBytes, "base header has its length");
  bytes_ = queued_.size();
  BeginBlock();
}

void BaseWriter::BeginBlock() { block_.assign(kBlockHeadBytes, '\0'); }

absl::Status BaseWriter::Append(RecordPart part, std::string_view bytes) {
  Check(!finished_, "a snapshot is appended to before it is finished");
  Check(!bytes.empty() && bytes.size() <= options_.block_bytes, "a part has bytes, and is bounded");
  Check(!in_pieces_ || part != RecordPart::kWhole, "the pieces of a record follow one another");
  if (!in_pieces_ && queued_.size() > options_.most_queued_bytes) WaitWhileThrottled();
  if (!status_.ok()) return status_;
  if (!in_pieces_) ++records_;
  if (part != RecordPart::kWhole) return AppendPiece(part == RecordPart::kLastPiece, bytes);
  AppendLengthPrefixed(block_, bytes);
  if (block_.size() < kBlockHeadBytes + options_.block_bytes) return absl::OkStatus();
  return EndBlock(kRecordBlock);
}

absl::Status BaseWriter::AppendPiece(bool is_last, std::string_view piece) {
  if (block_.size() > kBlockHeadBytes) EndBlock(kRecordBlock).IgnoreError();
  in_pieces_ = !is_last;
  block_.append(piece);
  return EndBlock(is_last ? kLastPieceBlock : kPieceBlock);
}

absl::Status BaseWriter::Finish() {
  Check(!finished_, "a snapshot is finished once");
  finished_ = true;
  if (status_.ok() && block_.size() > kBlockHeadBytes) EndBlock(kRecordBlock).IgnoreError();
  if (!status_.ok()) return status_;
  PutLittleEndian(records_, block_);
  PutLittleEndian(blocks_, block_);
  return EndBlock(kFooterBlock);
}

absl::Status BaseWriter::EndBlock(char type) {
  std::string length;
  PutLittleEndian(static_cast<uint32_t>(block_.size() - kBlockHeadBytes), length);
  block_[0] = type;
  block_.replace(1, length.size(), length);
  crc_ = ExtendCrc32c(crc_, block_);
  PutLittleEndian(crc_, block_);
  queued_.append(block_);
  bytes_ += block_.size();
  ++blocks_;
  BeginBlock();
  return Advance();
}

absl::Status BaseWriter::Advance() {
  if (worker_->busy()) {
    auto result = worker_->Poll();
    if (!result.has_value()) return status_;
    if (status_.ok()) status_ = std::move(result->status);
  }
  StartWriting();
  return status_;
}

void BaseWriter::StartWriting() {
  if (!status_.ok() || queued_.empty()) return;
  Recycle(writing_, kMostKeptSyncs * options_.sync_bytes);
  writing_.swap(queued_);
  unsynced_bytes_ += writing_.size();
  const bool sync = finished_ || unsynced_bytes_ >= options_.sync_bytes;
  if (sync) unsynced_bytes_ = 0;
  worker_->Start([this, sync, size = bytes_] {
    absl::Status status = AppendAll(*file_, writing_);
    if (status.ok() && sync) status = file_->Sync();
    // The page cache would keep what nobody is going to read soon; see BaseReader.
    if (sync) file_->DropCached(size);
    return status;
  });
}

bool BaseWriter::Throttled() {
  return queued_.size() >= options_.sync_bytes && Advance().ok() &&
         queued_.size() >= options_.sync_bytes;
}

void BaseWriter::WaitWhileThrottled() {
  while (Throttled()) {
    status_ = worker_->Wait().status;
    StartWriting();
  }
}

absl::StatusOr<bool> BaseWriter::PollSynced() {
  Check(finished_, "the final sync follows Finish");
  if (absl::Status status = Advance(); !status.ok()) return status;
  return !worker_->busy();
}

absl::Status BaseWriter::WaitSynced() {
  while (true) {
    const auto synced = PollSynced();
    if (!synced.ok()) return synced.status();
    if (*synced) return absl::OkStatus();
    status_ = worker_->Wait().status;
  }
}

}  // namespace tally::server
