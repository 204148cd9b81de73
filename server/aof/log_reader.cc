#include "server/aof/log_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "server/aof/crc32c.h"

namespace tally::server {
namespace {

constexpr size_t kReadBytes = size_t{1} << 20;

}  // namespace

LogReader::LogReader(std::unique_ptr<File> file, uint64_t sequence, uint64_t size)
    : file_(std::move(file)), file_size_(size), end_(size) {
  position_.sequence = sequence;
}

absl::StatusOr<std::unique_ptr<LogReader>> LogReader::Open(FileSystem& files,
                                                           const std::string& path,
                                                           uint64_t sequence) {
  auto file = files.OpenForRead(path);
  if (!file.ok()) return file.status();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.status();
  std::unique_ptr<LogReader> reader(new LogReader(std::move(*file), sequence, *size));
  absl::Status status = reader->ReadHeader();
  if (!status.ok()) return status;
  return reader;
}

absl::Status LogReader::Damaged(uint64_t offset, std::string_view why) const {
  return absl::DataLossError(absl::StrCat(path(), " offset ", offset, ": ", std::string(why)));
}

absl::Status LogReader::ReadHeader() {
  while (Window().size() < kLogHeaderBytes) {
    const auto grown = Grow(kLogHeaderBytes);
    if (!grown.ok()) return grown.status();
    // The file is shorter than a header, so it never held a batch.
    if (!*grown) return absl::OkStatus();
  }
  LogHeader header;
  if (!ParseLogHeader(Window().substr(0, kLogHeaderBytes), header)) {
    return JudgeTail(0, "the log's header is damaged", false).status();
  }
  if (header.sequence != position_.sequence) {
    return Damaged(0, absl::StrCat("this is log ", header.sequence, ", expected was log ",
                                   position_.sequence));
  }
  header_ = header;
  position_.offset = kLogHeaderBytes;
  position_.crc = header.crc;
  return absl::OkStatus();
}

absl::Status LogReader::BeginAt(uint64_t offset, uint32_t crc) {
  if (offset > end_) return Damaged(end_, absl::StrCat("the base ends at offset ", offset));
  position_.offset = offset;
  position_.crc = crc;
  synced_ = offset;
  buffer_offset_ = offset;
  filled_ = 0;
  return absl::OkStatus();
}

void LogReader::ExpectEnd(uint64_t offset, uint32_t crc) {
  expected_end_ = LogPosition{position_.sequence, offset, crc};
  end_ = std::min(file_size_, offset);
}

std::string_view LogReader::Window() const {
  const size_t skip = static_cast<size_t>(position_.offset - buffer_offset_);
  const size_t left = static_cast<size_t>(end_ - position_.offset);
  return {buffer_.data() + skip, std::min(filled_ - skip, left)};
}

absl::StatusOr<bool> LogReader::Grow(size_t size) {
  const size_t kept = filled_ - static_cast<size_t>(position_.offset - buffer_offset_);
  if (position_.offset + size > end_) return false;
  if (kept > 0) std::memmove(buffer_.data(), buffer_.data() + (filled_ - kept), kept);
  buffer_offset_ = position_.offset;
  filled_ = kept;
  // Doubling keeps the cost of a large batch linear.
  const size_t ahead = std::max(2 * kept, kReadBytes);
  const size_t wanted = std::max<uint64_t>(size, std::min(ahead, end_ - position_.offset));
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  const auto count =
      ReadFull(*file_, buffer_offset_ + filled_, std::span(buffer_).subspan(filled_));
  if (!count.ok()) return count.status();
  filled_ += *count;
  if (filled_ < size) return Damaged(buffer_offset_ + filled_, "the file became shorter");
  return true;
}

absl::StatusOr<LogReader::Step> LogReader::NextBatch(CommandSink on_command) {
  if (!header_.has_value()) return file_size_ == 0 ? Step::kEnd : Step::kTorn;
  size_t scanned = 0;  // bytes of the batch that are whole commands
  while (true) {
    const std::string_view window = Window();
    size_t cursor = scanned;
    size_t needed = window.size() + 1;
    if (cursor < window.size() && window[cursor] == '#') {
      needed = cursor + kAnnotationBytes;
      if (needed <= window.size()) return CheckBatch(cursor, on_command);
    } else if (cursor < window.size()) {
      const ScanResult result = ScanCommand(window, cursor, args_);
      if (result == ScanResult::kInvalid) {
        return JudgeTail(position_.offset + cursor, "not a command", false);
      }
      if (result == ScanResult::kCommand) {
        scanned = cursor;
        continue;
      }
      needed = cursor;
    }
    const auto grown = Grow(needed);
    if (!grown.ok()) return grown.status();
    if (!*grown) return AtEndOfFile(scanned);
  }
}

absl::StatusOr<LogReader::Step> LogReader::AtEndOfFile(size_t scanned) {
  // The window may lack bytes of the tail: a command may declare a length that exceeds the file,
  // and then the rest is not read. So this asks tail_bytes().
  if (tail_bytes() == 0) {
    if (!expected_end_.has_value() || *expected_end_ == position_) return Step::kEnd;
    return Damaged(position_.offset,
                   absl::StrCat("the next log continues at offset ", expected_end_->offset,
                                ", with another checksum than is found here"));
  }
  const std::string_view window = Window();
  if (scanned < window.size() && window[scanned] == '#') {
    if (!MayBeginAnnotation(position_, window.substr(0, scanned), window.substr(scanned))) {
      return JudgeTail(position_.offset + scanned, "not the batch's annotation", false);
    }
  }
  return JudgeTail(position_.offset + scanned, "the batch is incomplete", true);
}

absl::StatusOr<LogReader::Step> LogReader::CheckBatch(size_t length, CommandSink on_command) {
  const std::string_view batch = Window().substr(0, length);
  const std::string_view line = Window().substr(length, kAnnotationBytes);
  const uint64_t line_offset = position_.offset + length;
  Annotation annotation;
  if (!ParseAnnotation(line, annotation)) {
    return JudgeTail(line_offset, "not the batch's annotation", false);
  }
  if (length == 0 || annotation.length != length || annotation.offset != position_.offset) {
    return JudgeTail(line_offset, "the annotation is of another batch", false);
  }
  if (annotation.previous_crc != position_.crc) {
    return JudgeTail(position_.offset, "the batch does not follow the one before", false);
  }
  std::string expected;
  const uint32_t crc = AppendAnnotation(position_, annotation.synced, batch, expected);
  if (line != expected) return JudgeTail(position_.offset, "the checksum does not match", false);
  absl::Status delivered = Deliver(batch, on_command);
  if (!delivered.ok()) return delivered;
  position_.offset = line_offset + kAnnotationBytes;
  position_.crc = crc;
  synced_ = annotation.synced;
  ++batches_;
  return Step::kBatch;
}

absl::Status LogReader::Deliver(std::string_view batch, CommandSink on_command) {
  for (size_t cursor = 0; cursor < batch.size();) {
    const size_t start = cursor;
    if (ScanCommand(batch, cursor, args_) != ScanResult::kCommand) {
      return Damaged(position_.offset + start, "not a command");
    }
    const absl::Status applied = on_command(args_);
    if (!applied.ok()) {
      return absl::Status(applied.code(), absl::StrCat(path(), " offset ", position_.offset + start,
                                                       ": ", applied.message()));
    }
    ++commands_;
  }
  return absl::OkStatus();
}

absl::StatusOr<LogReader::Step> LogReader::JudgeTail(uint64_t offset, std::string_view why,
                                                     bool incomplete) {
  if (expected_end_.has_value()) return Damaged(offset, why);
  const auto evidence = ExamineTail();
  if (!evidence.ok()) return evidence.status();
  // A batch was written completely if its own annotation is there or another batch follows it. Such
  // a batch is torn only if one of its sectors never reached the disk, and if no later batch says
  // that it was on disk.
  const bool was_synced = evidence->synced > position_.offset;
  const bool has_hole = evidence->unwritten_sector.has_value() &&
                        *evidence->unwritten_sector < evidence->later_batch.value_or(end_);
  const bool ends_early = incomplete && !evidence->own_annotation && !evidence->later_batch;
  if (!was_synced && (has_hole || ends_early)) return Step::kTorn;
  if (!evidence->later_batch) return Damaged(offset, why);
  return Damaged(offset, absl::StrCat(std::string(why), "; the batch that starts at offset ",
                                      *evidence->later_batch, " comes after it"));
}

absl::StatusOr<LogReader::TailEvidence> LogReader::ExamineTail() {
  constexpr uint64_t kSectorBytes = 512;
  TailEvidence evidence;
  const uint64_t first_chunk = position_.offset / kSectorBytes * kSectorBytes;
  std::vector<char> chunk(std::min(kReadBytes + kAnnotationBytes, end_ - first_chunk));
  for (uint64_t start = first_chunk; start < end_; start += kReadBytes) {
    const auto count = ReadFull(*file_, start, chunk);
    if (!count.ok()) return count.status();
    const std::string_view bytes(chunk.data(), std::min<uint64_t>(*count, end_ - start));
    const size_t skip = start < position_.offset ? position_.offset - start : 0;
    FindAnnotations(bytes, skip, start, evidence);
    for (size_t at = 0; at < std::min(bytes.size(), kReadBytes); at += kSectorBytes) {
      const size_t from = std::max(at, skip);
      if (from >= bytes.size() || from >= at + kSectorBytes) continue;
      const std::string_view sector = bytes.substr(from, at + kSectorBytes - from);
      // If only one byte of the batch is in this sector, it is a '*' or a newline. Both have
      // several bits set, so no single flipped bit makes it a zero.
      if (!evidence.unwritten_sector && sector.find_first_not_of('\0') == std::string_view::npos) {
        evidence.unwritten_sector = start + from;
      }
    }
  }
  return evidence;
}

void LogReader::FindAnnotations(std::string_view bytes, size_t from, uint64_t bytes_offset,
                                TailEvidence& evidence) const {
  for (size_t at = bytes.find("#TALLY ", from); at != std::string_view::npos;
       at = bytes.find("#TALLY ", at + 1)) {
    Annotation annotation;
    if (!ParseAnnotation(bytes.substr(at, kAnnotationBytes), annotation)) continue;
    // Counts only an annotation that is at the offset that it names, because a value may contain
    // any text.
    if (annotation.offset < position_.offset ||
        annotation.offset + annotation.length != bytes_offset + at) {
      continue;
    }
    if (annotation.offset == position_.offset) {
      evidence.own_annotation = true;
      continue;
    }
    if (!evidence.later_batch) evidence.later_batch = annotation.offset;
    evidence.synced = std::max(evidence.synced, annotation.synced);
  }
}

}  // namespace tally::server
