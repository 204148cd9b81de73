#include "server/durability/log_stream.h"

#include <utility>

#include "core/bytes/number.h"
#include "core/bytes/str_cat.h"
#include "server/durability/stream_note.h"
#include "server/effects/effect_stream.h"

namespace tally::server {
namespace {

absl::Status NotThere(uint64_t offset) {
  return absl::NotFoundError(StrCat("the logs do not hold the stream from offset ", offset));
}

// What the first batch of the log says of the stream; nullopt if it says nothing.
absl::StatusOr<std::optional<StreamNote>> HeadOf(FileSystem& files, const std::string& path,
                                                 uint64_t sequence) {
  auto reader = LogReader::Open(files, path, sequence);
  if (!reader.ok()) return reader.status();
  std::optional<StreamNote> note;
  bool first = true;
  const auto read = (*reader)->NextBatch([&](Args command) {
    if (std::exchange(first, false) && StreamNote::Is(command)) note = StreamNote::Read(command);
    return absl::OkStatus();
  });
  if (!read.ok()) return read.status();
  return note;
}

}  // namespace

absl::StatusOr<std::unique_ptr<StreamSource>> LogStream::Open(const AofDirectory& directory,
                                                              uint64_t offset) {
  const std::vector<ManifestEntry>& logs = directory.manifest().logs;
  // The last log that begins at or before the offset.
  size_t begin = logs.size();
  while (begin > 0) {
    const ManifestEntry& entry = logs[--begin];
    const auto head = HeadOf(directory.files(), directory.PathOf(entry), entry.sequence);
    if (!head.ok()) return head.status();
    if (head->has_value() && (*head)->offset <= offset) break;
    if (begin == 0) return NotThere(offset);
  }
  if (logs.empty()) return NotThere(offset);
  std::unique_ptr<LogStream> stream(new LogStream(directory, offset));
  auto log = stream->OpenLog(logs[begin]);
  if (!log.ok()) return log.status();
  stream->logs_.push_back(std::move(*log));
  if (absl::Status status = stream->OpenNewer(); !status.ok()) return status;
  return std::unique_ptr<StreamSource>(std::move(stream));
}

absl::StatusOr<LogStream::Log> LogStream::OpenLog(const ManifestEntry& entry) const {
  auto reader = LogReader::Open(directory_.files(), directory_.PathOf(entry), entry.sequence);
  if (!reader.ok()) return reader.status();
  return Log{entry.sequence, std::move(*reader)};
}

absl::Status LogStream::OpenNewer() {
  for (const ManifestEntry& entry : directory_.manifest().logs) {
    if (entry.sequence <= logs_.back().sequence) continue;
    auto log = OpenLog(entry);
    if (!log.ok()) return log.status();
    const auto& header = log->reader->header();
    // A rewrite that is about to begin has made it, and nothing is written to it yet.
    if (!header) break;
    LogReader& before = *logs_.back().reader;
    // What the log before has after that place was written again into this one.
    if (before.position().offset > header->previous_offset) {
      return absl::FailedPreconditionError("the log was written again from an earlier place");
    }
    before.ExpectEnd(header->previous_offset, header->previous_crc);
    logs_.push_back(std::move(*log));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> LogStream::Continue() {
  if (logs_.size() > 1) {
    logs_.pop_front();
    return true;
  }
  // The reader sees the file as it was when it was opened.
  const LogPosition position = logs_.front().reader->position();
  const uint64_t sequence = logs_.front().sequence;
  for (const ManifestEntry& entry : directory_.manifest().logs) {
    if (entry.sequence != sequence) continue;
    auto log = OpenLog(entry);
    if (!log.ok()) return log.status();
    const bool grown = log->reader->file_size() > logs_.front().reader->file_size();
    if (!grown && directory_.manifest().logs.back().sequence == sequence) return false;
    if (position.offset > 0) {
      const absl::Status status = log->reader->BeginAt(position.offset, position.crc);
      if (!status.ok()) return status;
    }
    logs_.front() = std::move(*log);
    if (absl::Status status = OpenNewer(); !status.ok()) return status;
    return grown || logs_.size() > 1;
  }
  return absl::NotFoundError("the log was removed while it was read");
}

void LogStream::Take(Args command, Part& part) {
  if (StreamNote::Is(command)) {
    const auto note = StreamNote::Read(command);
    if (!note || (known_ && note->offset != offset_)) {
      wrong_ = absl::DataLossError("a log does not continue the stream of the one before");
    } else {
      known_ = true;
      offset_ = note->offset;
      database_ = note->database;
    }
    return;
  }
  if (command[0] == "REPLCONF") return;  // a note of another kind
  const uint64_t begin = offset_;
  const size_t selected = database_;
  offset_ += BytesOf(command);
  if (command[0] == "SELECT" && command.size() == 2) {
    database_ = static_cast<size_t>(ParseInt64(command[1]).value_or(0));
  }
  if (begin < wanted_) {
    if (offset_ > wanted_) wrong_ = NotThere(wanted_);
    return;
  }
  if (part.effects.empty()) {
    part.offset = begin;
    part.database = selected;
  }
  AppendRespCommand(part.effects, command);
}

absl::StatusOr<bool> LogStream::Next(Part& part) {
  part.effects.clear();
  const auto read = logs_.front().reader->NextBatch([&](Args command) {
    Take(command, part);
    return wrong_;
  });
  if (!read.ok()) return read.status();
  if (*read == LogReader::Step::kBatch) return true;
  return Continue();
}

}  // namespace tally::server
