#include "server/aof/base_snapshot.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/bytes/varint.h"
#include "core/check.h"
#include "server/aof/crc32c.h"

namespace tally::server {
namespace {

constexpr std::string_view kMagic = "TALLYBAS";
constexpr uint32_t kVersion = 1;
constexpr char kRecordBlock = 'R';
constexpr char kFooterBlock = 'F';
constexpr size_t kBlockHeadBytes = 5;  // type, length
constexpr size_t kCrcBytes = 4;
constexpr size_t kFooterBytes = 16;  // records, blocks
// One block holds at least one record, and that many bytes more at most.
constexpr size_t kMaxPayloadBytes = kMaxRecordBytes + (size_t{1} << 20) + kMaxVarintBytes;

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

BaseWriter::BaseWriter(FileSystem& files, std::unique_ptr<File> file, const Options& options)
    : file_(std::move(file)), options_(options), worker_(files.NewWorker()) {}

absl::StatusOr<std::unique_ptr<BaseWriter>> BaseWriter::Create(FileSystem& files,
                                                               std::unique_ptr<File> file,
                                                               const BaseHeader& header,
                                                               const Options& options) {
  Check(options.block_bytes >= 1 && options.block_bytes <= size_t{1} << 20, "block size in range");
  std::string bytes(kMagic);
  PutLittleEndian(kVersion, bytes);
  PutLittleEndian(header.created_unix_ms, bytes);
  PutLittleEndian(header.sequence, bytes);
  PutLittleEndian(header.first_log, bytes);
  const uint32_t crc = ExtendCrc32c(0, bytes);
  PutLittleEndian(crc, bytes);
  Check(bytes.size() == kBaseHeaderBytes, "base header has its length");
  std::unique_ptr<BaseWriter> writer(new BaseWriter(files, std::move(file), options));
  writer->crc_ = crc;
  const absl::Status status = writer->Write(bytes);
  if (!status.ok()) return status;
  writer->BeginBlock();
  return writer;
}

void BaseWriter::BeginBlock() { block_.assign(kBlockHeadBytes, '\0'); }

absl::Status BaseWriter::Append(std::string_view record) {
  Check(!finished_, "a snapshot is appended to before it is finished");
  Check(!record.empty() && record.size() <= kMaxRecordBytes, "record size in range");
  if (!status_.ok()) return status_;
  AppendLengthPrefixed(block_, record);
  ++records_;
  if (block_.size() < kBlockHeadBytes + options_.block_bytes) return absl::OkStatus();
  return WriteBlock(kRecordBlock);
}

absl::Status BaseWriter::Finish() {
  Check(!finished_, "a snapshot is finished once");
  finished_ = true;
  if (status_.ok() && block_.size() > kBlockHeadBytes) WriteBlock(kRecordBlock).IgnoreError();
  if (!status_.ok()) return status_;
  PutLittleEndian(records_, block_);
  PutLittleEndian(blocks_, block_);
  return WriteBlock(kFooterBlock);
}

absl::Status BaseWriter::WriteBlock(char type) {
  std::string length;
  PutLittleEndian(static_cast<uint32_t>(block_.size() - kBlockHeadBytes), length);
  block_[0] = type;
  block_.replace(1, length.size(), length);
  crc_ = ExtendCrc32c(crc_, block_);
  PutLittleEndian(crc_, block_);
  if (!Write(block_).ok()) return status_;
  ++blocks_;
  BeginBlock();
  return CollectAndStartSync();
}

absl::Status BaseWriter::Write(std::string_view bytes) {
  status_ = AppendAll(*file_, bytes);
  bytes_ += bytes.size();
  unsynced_bytes_ += bytes.size();
  return status_;
}

absl::Status BaseWriter::CollectAndStartSync() {
  if (worker_->busy()) {
    const auto result = worker_->Poll();
    if (!result.has_value()) return status_;
    TakeSync(*result);
  }
  const bool due = unsynced_bytes_ >= options_.sync_bytes || (finished_ && unsynced_bytes_ > 0);
  if (status_.ok() && due) {
    syncing_bytes_ = unsynced_bytes_;
    worker_->Start([file = file_.get()] { return file->Sync(); });
  }
  return status_;
}

void BaseWriter::TakeSync(const BackgroundWorker::Result& result) {
  if (status_.ok()) status_ = result.status;
  unsynced_bytes_ -= syncing_bytes_;
  syncing_bytes_ = 0;
}

bool BaseWriter::Throttled() {
  const uint64_t most = 4 * options_.sync_bytes;
  return unsynced_bytes_ > most && CollectAndStartSync().ok() && unsynced_bytes_ > most;
}

absl::StatusOr<bool> BaseWriter::PollSynced() {
  Check(finished_, "the final sync follows Finish");
  const absl::Status status = CollectAndStartSync();
  if (!status.ok()) return status;
  return unsynced_bytes_ == 0;
}

absl::Status BaseWriter::WaitSynced() {
  while (true) {
    const auto synced = PollSynced();
    if (!synced.ok()) return synced.status();
    if (*synced) return absl::OkStatus();
    TakeSync(worker_->Wait());
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
  char bytes[kBaseHeaderBytes];
  const absl::Status read = ReadExactly(0, bytes);
  if (!read.ok()) return read;
  const std::string_view covered(bytes, kBaseHeaderBytes - kCrcBytes);
  if (!covered.starts_with(kMagic)) return Damaged(0, "not a base snapshot");
  crc_ = ExtendCrc32c(0, covered);
  if (crc_ != GetLittleEndian<uint32_t>(bytes + covered.size())) {
    return Damaged(0, "the checksum of the header does not match");
  }
  const auto version = GetLittleEndian<uint32_t>(bytes + 8);
  if (version != kVersion) {
    return absl::UnimplementedError(absl::StrCat(path(), ": a base snapshot of format version ",
                                                 version, "; this server reads version 1"));
  }
  header_.created_unix_ms = GetLittleEndian<int64_t>(bytes + 12);
  header_.sequence = GetLittleEndian<uint64_t>(bytes + 20);
  header_.first_log = GetLittleEndian<uint64_t>(bytes + 28);
  if (header_.sequence != sequence) {
    return Damaged(
        0, absl::StrCat("this is base ", header_.sequence, ", expected was base ", sequence));
  }
  offset_ = kBaseHeaderBytes;
  return absl::OkStatus();
}

absl::StatusOr<bool> BaseReader::NextBlock(RecordSink on_record, RecordPreview preview) {
  if (at_end_) return false;
  char head[kBlockHeadBytes];
  absl::Status read = ReadExactly(offset_, head);
  if (!read.ok()) return read;
  const auto length = GetLittleEndian<uint32_t>(head + 1);
  // Nothing is allocated for a length that the file does not hold.
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
  absl::Status status;
  if (head[0] == kRecordBlock) {
    status = Deliver(payload, on_record, preview);
    ++blocks_;
  } else if (head[0] == kFooterBlock) {
    status = CheckFooter(payload);
    at_end_ = true;
  } else {
    status = Damaged(offset_, "a block of an unknown type");
  }
  if (!status.ok()) return status;
  crc_ = crc;
  offset_ += kBlockHeadBytes + length + kCrcBytes;
  if (at_end_ && offset_ != file_size_) return Damaged(offset_, "bytes behind the footer");
  return !at_end_;
}

absl::Status BaseReader::Deliver(std::string_view payload, RecordSink on_record,
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
      const absl::Status applied = on_record(records[i]);
      if (!applied.ok()) {
        return absl::Status(applied.code(), absl::StrCat(path(), " offset ", offset_of(begin), ": ",
                                                         applied.message()));
      }
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
