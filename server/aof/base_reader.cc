#include "server/aof/base_reader.h"

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/bytes/recycle.h"
#include "core/bytes/varint.h"
#include "core/snapshot/record_sink.h"
#include "server/aof/crc32c.h"

namespace tally::server {
namespace {

// A snapshot may be as large as the memory, and is read only once. In the page cache its bytes
// would push out what other programs read, and would count as memory of this process. So they are
// dropped from the cache each time this many bytes have been read.
constexpr uint64_t kDropBytes = uint64_t{1} << 20;
// A block ends with the record that fills it, and both have at most kMaxPartBytes.
constexpr size_t kMaxPayloadBytes = 2 * kMaxPartBytes + kMaxVarintBytes;
// A buffer that has grown beyond this for one large record is freed.
constexpr size_t kKeptCapacity = size_t{1} << 20;

}  // namespace

BaseReader::BaseReader(std::unique_ptr<File> file, uint64_t size)
    : file_(std::move(file)), file_size_(size) {}

absl::StatusOr<std::unique_ptr<BaseReader>> BaseReader::Open(FileSystem& files,
                                                             const std::string& path,
                                                             std::optional<uint64_t> sequence) {
  auto file = files.OpenForRead(path);
  if (!file.ok()) return file.status();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.status();
  std::unique_ptr<BaseReader> reader(new BaseReader(std::move(*file), *size));
  reader->drops_ = sequence.has_value();
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

absl::StatusOr<bool> BaseReader::IsBase(FileSystem& files, const std::string& path) {
  auto file = files.OpenForRead(path);
  if (!file.ok()) return file.status();
  std::array<char, kBaseMagic.size()> first{};
  const auto count = ReadFull(**file, 0, first);
  if (!count.ok()) return count.status();
  return std::string_view(first.data(), *count) == kBaseMagic;
}

absl::Status BaseReader::ReadHeader(std::optional<uint64_t> sequence) {
  char bytes[kBaseHeaderBytes] = {};
  const absl::Status read = ReadExactly(0, bytes);
  if (!read.ok()) return read;
  if (!std::string_view(bytes, kBaseHeaderBytes).starts_with(kBaseMagic)) {
    return Damaged(0, "not a base snapshot");
  }
  const std::string_view covered(bytes, kBaseHeaderBytes - kCrcBytes);
  crc_ = ExtendCrc32c(0, covered);
  if (crc_ != GetLittleEndian<uint32_t>(bytes + covered.size())) {
    return Damaged(0, "the checksum of the header does not match");
  }
  const auto version = GetLittleEndian<uint32_t>(bytes + kBaseVersionAt);
  if (version != kBaseVersion) {
    return absl::UnimplementedError(absl::StrCat(path(), ": a base snapshot of format version ",
                                                 version, "; this server reads version ",
                                                 kBaseVersion));
  }
  header_.created_unix_ms = GetLittleEndian<int64_t>(bytes + 12);
  header_.sequence = GetLittleEndian<uint64_t>(bytes + 20);
  header_.first_log = GetLittleEndian<uint64_t>(bytes + 28);
  header_.first_offset = GetLittleEndian<uint64_t>(bytes + 36);
  header_.first_crc = GetLittleEndian<uint32_t>(bytes + 44);
  if (sequence && header_.sequence != *sequence) {
    return Damaged(
        0, absl::StrCat("this is base ", header_.sequence, ", expected was base ", *sequence));
  }
  offset_ = kBaseHeaderBytes;
  return absl::OkStatus();
}

void BaseReader::DropWhatWasRead() {
  if (!drops_ || (offset_ - dropped_ < kDropBytes && !at_end_)) return;
  file_->DropCached(std::exchange(dropped_, offset_), offset_);
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
