#include "server/aof/base_writer.h"

#include <utility>

#include "core/base/check.h"
#include "core/bytes/varint.h"
#include "server/aof/crc32c.h"

namespace tally::server {

BaseWriter::BaseWriter(FileSystem& files, std::unique_ptr<File> file, const BaseHeader& header,
                       const Options& options)
    : options_(options),
      file_(files, std::move(file),
            {.sync_bytes = options.sync_bytes, .most_queued_bytes = options.most_queued_bytes}) {
  Check(options.block_bytes >= 1 && options.block_bytes <= kMaxPartBytes, "block size in range");
  head_ = kBaseMagic;
  PutLittleEndian(kBaseVersion, head_);
  PutLittleEndian(header.created_unix_ms, head_);
  PutLittleEndian(header.sequence, head_);
  PutLittleEndian(header.first_log, head_);
  PutLittleEndian(header.first_offset, head_);
  PutLittleEndian(header.first_crc, head_);
  crc_ = ExtendCrc32c(0, head_);
  PutLittleEndian(crc_, head_);
  Check(head_.size() == kBaseHeaderBytes, "base header has its length");
  BeginBlock();
}

void BaseWriter::BeginBlock() { block_.assign(kBlockHeadBytes, '\0'); }

absl::Status BaseWriter::Append(RecordPart part, std::string_view bytes) {
  Check(!finished_, "a snapshot is appended to before it is finished");
  Check(!bytes.empty() && bytes.size() <= options_.block_bytes, "a part has bytes, and is bounded");
  Check(!in_pieces_ || part != RecordPart::kWhole, "the pieces of a record follow one another");
  if (!in_pieces_ && file_.IsFull()) WaitWhileThrottled();
  if (!file_.status().ok()) return file_.status();
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
  if (file_.status().ok() && block_.size() > kBlockHeadBytes) EndBlock(kRecordBlock).IgnoreError();
  if (!file_.status().ok()) return file_.status();
  finished_ = true;
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
  if (!head_.empty()) block_.insert(0, std::exchange(head_, {}));
  absl::Status status = finished_ ? file_.Finish(block_) : file_.Append(block_);
  ++blocks_;
  BeginBlock();
  return status;
}

}  // namespace tally::server
