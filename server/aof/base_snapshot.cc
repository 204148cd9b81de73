#include "server/aof/base_snapshot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/bytes/recycle.h"
#include "core/bytes/varint.h"
#include "server/aof/crc32c.h"

namespace tally::server {
namespace {

constexpr std::string_view kMagic = "TALLYBAS";
constexpr uint32_t kVersion = 2;
// Version 1 never splits a record, and its header has no first_offset and no first_crc.
constexpr uint32_t kOldVersion = 1;
constexpr size_t kOldHeaderBytes = 40;
constexpr size_t kVersionAt = 8;
constexpr char kRecordBlock = 'R';
constexpr char kPieceBlock = 'P';
constexpr char kLastPieceBlock = 'E';
constexpr char kFooterBlock = 'F';
constexpr size_t kBlockHeadBytes = 5;  // type, length
constexpr size_t kCrcBytes = 4;
constexpr size_t kFooterBytes = 16;  // records, blocks
// A snapshot may be as large as the memory, and is read only once. In the page cache its bytes
// would push out what other programs read, and would count as memory of this process. So they are
// dropped from the cache while the file is written and read; a reader drops them each time it has
// read this many bytes.
constexpr uint64_t kDropBytes = uint64_t{8} << 20;
// In version 1 a record of up to 16 MiB could end a block.
constexpr size_t kMaxPayloadBytes = (size_t{17} << 20) + kMaxVarintBytes;
// A buffer that has grown beyond this for one large record is freed.
constexpr size_t kKeptCapacity = size_t{1} << 20;
// The same for the bytes being written: this many syncs' bytes.
constexpr size_t kMostKeptSyncs = 8;

template <typename T>
void PutLittleEndian(T value, std::string& out) {
  for (size_t i = 0; i < sizeof(T); ++i) {
    out.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xff));
  }
}

template <typename T>
T GetLittleEndian(const char* bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return static_cast<T>(value);
}

}  // namespace

BaseWriter::BaseWriter(FileSystem& files, std::unique_ptr<File> file, const BaseHeader& header,
                       const Options& options)
    : file_(std::move(file)), options_(options), worker_(files.NewWorker()) {
  Check(options.block_bytes >= 1 && options.block_bytes <= kMaxPartBytes, "block size in range");
  queued_ = kMagic;
  PutLittleEndian(kVersion, queued_);
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

BaseReader::BaseReader(std::unique_ptr<File> file, uint64_t size)
    : file_(std::move(file)), file_size_(size) {}

absl::StatusOr<std::unique_ptr<BaseReader>> BaseReader::Open(FileSystem& files,
                                                             const std::string& path,
                                                             uint64_t sequence) {
  auto file = files.OpenForRead(path);
  if (!file.ok()) return file.status();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.status();
  std::unique_ptr<BaseReader> reader(new BaseReader(std::move(*file), *size));
  const absl::Status status = reader->ReadHeader(sequence);
  if (!status.ok()) return status;
  return reader;
}

absl::Status BaseReader::Damaged(uint64_t offset, std::string_view why) const {
  return absl::DataLossError(absl::StrCat(path(), " offset ", offset, ": ", std::string(why)));
}

absl::Status BaseReader::ReadExactly(uint64_t offset, std::span<char> out) {
  const auto count = ReadFull(*file_, offset, out);
  if (!count.ok()) return count.status();
  if (*count < out.size()) return Damaged(offset + *count, "the file ends before its footer");
  return absl::OkStatus();
}

absl::Status BaseReader::ReadHeader(uint64_t sequence) {
  char bytes[kBaseHeaderBytes] = {};
  absl::Status read = ReadExactly(0, std::span(bytes, kOldHeaderBytes));
  if (!read.ok()) return read;
  if (!std::string_view(bytes, kOldHeaderBytes).starts_with(kMagic)) {
    return Damaged(0, "not a base snapshot");
  }
  const auto version = GetLittleEndian<uint32_t>(bytes + kVersionAt);
  const size_t size = version == kOldVersion ? kOldHeaderBytes : kBaseHeaderBytes;
  read = ReadExactly(0, std::span(bytes, size));
  if (!read.ok()) return read;
  const std::string_view covered(bytes, size - kCrcBytes);
  crc_ = ExtendCrc32c(0, covered);
  if (crc_ != GetLittleEndian<uint32_t>(bytes + covered.size())) {
    return Damaged(0, "the checksum of the header does not match");
  }
  if (version != kVersion && version != kOldVersion) {
    return absl::UnimplementedError(absl::StrCat(path(), ": a base snapshot of format version ",
                                                 version, "; this server reads versions 1 and 2"));
  }
  header_.created_unix_ms = GetLittleEndian<int64_t>(bytes + 12);
  header_.sequence = GetLittleEndian<uint64_t>(bytes + 20);
  header_.first_log = GetLittleEndian<uint64_t>(bytes + 28);
  if (version == kVersion) {
    header_.first_offset = GetLittleEndian<uint64_t>(bytes + 36);
    header_.first_crc = GetLittleEndian<uint32_t>(bytes + 44);
  }
  if (header_.sequence != sequence) {
    return Damaged(
        0, absl::StrCat("this is base ", header_.sequence, ", expected was base ", sequence));
  }
  offset_ = size;
  return absl::OkStatus();
}

void BaseReader::DropWhatWasRead() {
  if (offset_ - dropped_ < kDropBytes && !at_end_) return;
  dropped_ = offset_;
  file_->DropCached(dropped_);
}

absl::StatusOr<bool> BaseReader::NextBlock(RecordReader on_record, RecordPreview preview) {
  if (at_end_) return false;
  char head[kBlockHeadBytes];
  absl::Status read = ReadExactly(offset_, head);
  if (!read.ok()) return read;
  const auto length = GetLittleEndian<uint32_t>(head + 1);
  // A length that the file cannot hold is refused before memory is allocated for it.
  if (length > kMaxPayloadBytes || length > file_size_ - offset_) {
    return Damaged(offset_, "the block's length is impossible");
  }
  buffer_.resize(length + kCrcBytes);
  read = ReadExactly(offset_ + kBlockHeadBytes, buffer_);
  if (!read.ok()) return read;
  const std::string_view payload(buffer_.data(), length);
  const uint32_t crc = ExtendCrc32c(ExtendCrc32c(crc_, {head, kBlockHeadBytes}), payload);
  if (crc != GetLittleEndian<uint32_t>(buffer_.data() + length)) {
    return Damaged(offset_, "the checksum of the block does not match");
  }
  const absl::Status status = Take(head[0], payload, on_record, preview);
  if (!status.ok()) return status;
  crc_ = crc;
  offset_ += kBlockHeadBytes + length + kCrcBytes;
  DropWhatWasRead();
  if (at_end_ && offset_ != file_size_) return Damaged(offset_, "bytes after the footer");
  return !at_end_;
}

absl::Status BaseReader::Take(char type, std::string_view payload, RecordReader on_record,
                              RecordPreview preview) {
  const bool is_piece = type == kPieceBlock || type == kLastPieceBlock;
  if (is_piece ? payload.empty() : !pieces_.empty()) {
    return Damaged(offset_, "a record lacks a piece");
  }
  if (type == kFooterBlock) {
    at_end_ = true;
    return CheckFooter(payload);
  }
  ++blocks_;
  if (is_piece) return TakePiece(payload, type == kLastPieceBlock, on_record, preview);
  if (type == kRecordBlock) return Deliver(payload, on_record, preview);
  return Damaged(offset_, "a block of an unknown type");
}

absl::Status BaseReader::TakePiece(std::string_view piece, bool is_last, RecordReader on_record,
                                   RecordPreview preview) {
  pieces_.append(piece);
  if (!is_last) return absl::OkStatus();
  const std::string_view record = pieces_;
  preview({&record, 1});
  absl::Status status = DeliverOne(record, offset_, on_record);
  ++records_;
  Recycle(pieces_, kKeptCapacity);
  return status;
}

absl::Status BaseReader::DeliverOne(std::string_view record, uint64_t offset,
                                    RecordReader on_record) {
  const absl::Status applied = on_record(record);
  if (applied.ok()) return applied;
  return absl::Status(applied.code(),
                      absl::StrCat(path(), " offset ", offset, ": ", applied.message()));
}

absl::Status BaseReader::Deliver(std::string_view payload, RecordReader on_record,
                                 RecordPreview preview) {
  const auto offset_of = [&](const char* place) {
    return offset_ + kBlockHeadBytes + static_cast<uint64_t>(place - payload.data());
  };
  std::array<std::string_view, kPreviewedRecords> records;
  for (std::string_view rest = payload; !rest.empty();) {
    const char* begin = rest.data();
    size_t count = 0;
    while (count < records.size() && !rest.empty()) {
      if (!ReadLengthPrefixed(rest, records[count])) {
        return Damaged(offset_of(rest.data()), "not a record");
      }
      ++count;
    }
    preview({records.data(), count});
    for (size_t i = 0; i < count; ++i) {
      absl::Status applied = DeliverOne(records[i], offset_of(begin), on_record);
      if (!applied.ok()) return applied;
      begin = records[i].data() + records[i].size();
    }
    records_ += count;
  }
  return absl::OkStatus();
}

absl::Status BaseReader::CheckFooter(std::string_view payload) {
  if (payload.size() != kFooterBytes) return Damaged(offset_, "not a footer");
  if (GetLittleEndian<uint64_t>(payload.data()) != records_ ||
      GetLittleEndian<uint64_t>(payload.data() + 8) != blocks_) {
    return Damaged(offset_, "the footer counts other records than there are");
  }
  return absl::OkStatus();
}

}  // namespace tally::server
