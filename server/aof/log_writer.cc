#include "server/aof/log_writer.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "core/base/check.h"
#include "core/bytes/recycle.h"

namespace tally::server {
namespace {

constexpr size_t kKeptBuffer = size_t{1} << 20;
constexpr uint64_t kLittleToSync = uint64_t{64} << 10;  // takes no longer than to sync one byte
constexpr int kMostSyncsAhead = 8;

}  // namespace

LogWriter::LogWriter(AofDirectory& directory, const Options& options)
    : directory_(directory),
      options_(options),
      unsynced_(options.max_unsynced_bytes),
      writeback_(directory.files()),
      worker_(directory.files().NewWorker()) {}

absl::StatusOr<std::unique_ptr<LogWriter>> LogWriter::Open(AofDirectory& directory,
                                                           const LogPosition& end, uint64_t synced,
                                                           const Options& options) {
  std::unique_ptr<LogWriter> writer(new LogWriter(directory, options));
  if (end.sequence != 0) {
    const absl::Status opened = writer->OpenExisting(end, synced);
    if (!opened.ok()) return opened;
  }
  const auto& logs = directory.manifest().logs;
  if (!logs.empty() && logs.back().sequence == end.sequence) return writer;
  // There is no log yet, or the logs listed after `end` do not even have a header: a new log
  // replaces them.
  auto log = directory.AddLog(end.sequence);
  if (!log.ok()) return log.status();
  absl::Status status = writer->StartLog(std::move(log->file), log->sequence);
  if (status.ok()) status = writer->SyncInline(0);
  if (!status.ok()) return status;
  return writer;
}

absl::Status LogWriter::OpenExisting(const LogPosition& end, uint64_t synced) {
  for (const ManifestEntry& log : directory_.manifest().logs) {
    if (log.sequence != end.sequence) continue;
    auto file = directory_.files().OpenForAppend(directory_.PathOf(log));
    if (!file.ok()) return file.status();
    UseFile(std::move(*file));
    const auto size = file_->Size();
    if (!size.ok()) return size.status();
    if (*size < end.offset) {
      return absl::DataLossError(
          absl::StrCat(file_->path(), " has become shorter than ", end.offset, " bytes"));
    }
    if (*size > end.offset) {
      const absl::Status truncated = file_->Truncate(end.offset);
      if (!truncated.ok()) return truncated;
    }
    const absl::Status again = WriteAgain(*file_, synced, end.offset);
    if (!again.ok()) return again;
    written_ = end;
    return SyncInline(0);
  }
  return absl::FailedPreconditionError(
      absl::StrCat("log ", end.sequence, " is not in ", directory_.ManifestPath()));
}

void LogWriter::UseFile(std::unique_ptr<File> file) {
  writeback_.Stop();
  file_ = std::move(file);
  file_distrusted_ = false;
}

absl::Status LogWriter::StartLog(std::unique_ptr<File> file, uint64_t sequence) {
  LogHeader header{sequence, written_.offset, written_.crc, 0};
  const std::string line = FormatLogHeader(header);
  Check(ParseLogHeader(line, header), "a log header can be read back");
  const absl::Status status = AppendAll(*file, line);
  if (!status.ok()) return status;
  UseFile(std::move(file));
  synced_ = 0;
  previous_ = written_;
  written_ = {sequence, kLogHeaderBytes, header.crc};
  return absl::OkStatus();
}

absl::Status LogWriter::Fail(absl::Status status) {
  if (error_.ok()) error_ = std::move(status);
  return error_;
}

absl::Status LogWriter::Flush(int64_t now_ms) {
  CollectSyncs(now_ms);
  if (!error_.ok()) return error_;
  if (!buffer_.empty()) {
    WaitWhenBehind(now_ms);
    if (!error_.ok()) return error_;
    const absl::Status written = WriteBatch();
    if (!written.ok()) return Fail(written);
    switch (options_.policy) {
      case FsyncPolicy::kAlways: {
        const absl::Status synced = SyncInline(now_ms);
        if (!synced.ok()) return synced;
        break;
      }
      case FsyncPolicy::kEverysec:
        KeepUnsynced(now_ms);
        writeback_.Appended(*file_, written_.offset);
        break;
      case FsyncPolicy::kNo:
        safe_ = written_;
        break;
    }
    Recycle(buffer_, kKeptBuffer);
  }
  HurrySyncIfDue(now_ms);
  return error_;
}

absl::Status LogWriter::WriteBatch() {
  if (buffer_.size() > options_.max_batch_bytes) [[unlikely]]
    return WriteBatches();
  const size_t length = buffer_.size();
  const uint32_t crc = AppendAnnotation(written_, synced_, buffer_, buffer_);
  const absl::Status status = AppendAll(*file_, buffer_);
  const uint64_t end = written_.offset + buffer_.size();
  buffer_.resize(length);
  if (status.ok()) {
    written_.offset = end;
    written_.crc = crc;
    ++stats_.batches;
    return status;
  }
  if (!file_->Truncate(written_.offset).ok()) file_distrusted_ = true;
  return status;
}

// Writes a buffer that is too large for one batch.
absl::Status LogWriter::WriteBatches() {
  absl::Status status;
  LogPosition end = written_;
  for (std::string_view rest = buffer_; !rest.empty() && status.ok();) {
    const std::string_view batch = FirstCommands(rest, options_.max_batch_bytes);
    std::string annotation;
    end.crc = AppendAnnotation(end, synced_, batch, annotation);
    end.offset += batch.size() + annotation.size();
    status = AppendAll(*file_, batch);
    if (status.ok()) status = AppendAll(*file_, annotation);
    rest.remove_prefix(batch.size());
  }
  if (status.ok()) {
    written_ = end;
    ++stats_.batches;
  } else if (!file_->Truncate(written_.offset).ok()) {
    file_distrusted_ = true;
  }
  return status;
}

absl::Status LogWriter::SyncInline(int64_t now_ms) {
  WaitForSyncs(now_ms);
  if (!error_.ok()) return error_;
  const absl::Status status = TimedSync(*file_, now_ms);
  if (!status.ok()) {
    file_distrusted_ = true;
    lost_ = options_.policy == FsyncPolicy::kNo;
    return Fail(status);
  }
  safe_ = written_;
  synced_ = written_.offset;
  unsynced_.Clear();
  return status;
}

absl::Status LogWriter::TimedSync(File& file, int64_t now_ms) {
  const auto begin = std::chrono::steady_clock::now();
  absl::Status status = file.Sync();
  if (!status.ok()) return status;
  const auto took = std::chrono::steady_clock::now() - begin;
  stats_.last_fsync_ms = now_ms;
  stats_.last_fsync_took_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  return status;
}

// Takes the results that are there. Returns whether no sync is started any more.
bool LogWriter::CollectSyncs(int64_t now_ms) {
  while (worker_->busy()) {
    const auto result = worker_->Poll();
    if (!result) return false;
    CollectSync(*result, now_ms);
  }
  return true;
}

void LogWriter::WaitForSyncs(int64_t now_ms) {
  while (worker_->busy()) CollectSync(worker_->Wait(), now_ms);
}

void LogWriter::CollectSync(const BackgroundWorker::Result& result, int64_t now_ms) {
  const bool keeps_nothing = options_.policy == FsyncPolicy::kNo;
  if (!result.status.ok()) {
    // Also of a file that a failed write has made untrusted: what is lost now, no later sync saves.
    file_distrusted_ = true;
    lost_ = keeps_nothing;
    Fail(result.status).IgnoreError();
    return;
  }
  // A success after a failure proves nothing: the kernel reports a failure once.
  if (file_distrusted_) return;
  stats_.last_fsync_ms = now_ms;
  stats_.last_fsync_took_us = result.duration_us;
  // With policy `no`, safe_ is the end of what is written, which may be further.
  const LogPosition end = unsynced_.SyncEnded();
  if (!keeps_nothing) safe_ = end;
  synced_ = end.offset;
}

void LogWriter::WaitWhenBehind(int64_t now_ms) {
  if (options_.policy != FsyncPolicy::kEverysec) return;
  bool waited = false;
  while (error_.ok() && unsynced_.IsBehind(now_ms)) {
    waited = true;
    const BackgroundWorker::Result result = worker_->Wait();
    // The waiting batches have become older while the disk was slow.
    now_ms += result.duration_us / 1000;
    CollectSync(result, now_ms);
  }
  if (waited) ++stats_.delayed_fsyncs;
}

// Keeps the batch that was just written until a sync has covered it. A sync that has begun may have
// missed it, so it belongs to the next one. That one is started here, because the loop may not be
// back in time.
void LogWriter::KeepUnsynced(int64_t now_ms) {
  if (worker_->begun()) {
    // If two have begun, the first has ended.
    while (worker_->pending() > 1) CollectSync(worker_->Wait(), now_ms);
    StartSync(UnsyncedBatches::kSyncAfterMs, now_ms);
  }
  unsynced_.Append(buffer_, written_);
}

void LogWriter::StartSync(int64_t delay_ms, int64_t now_ms) {
  unsynced_.BeginGroup(written_, now_ms);
  worker_->StartAfter(delay_ms, [file = file_.get()] { return file->Sync(); });
}

void LogWriter::HurrySyncIfDue(int64_t now_ms) {
  if (options_.policy != FsyncPolicy::kEverysec || worker_->begun()) return;
  if (unsynced_.IsSyncDue(now_ms)) worker_->Hurry();
}

absl::Status LogWriter::TryRecover(int64_t now_ms) {
  // A sync that has begun may hang; one that waits for its time is as good as the one below.
  if (worker_->pending() == 1 && !worker_->begun()) WaitForSyncs(now_ms);
  worker_->Hurry();
  if (!CollectSyncs(now_ms)) return error_;
  if (error_.ok()) return error_;
  if (lost_) {
    return absl::DataLossError(
        absl::StrCat(std::string(error_.message()),
                     "; with appendfsync no the bytes are in no memory: only a "
                     "new base snapshot can replace them"));
  }
  if (file_distrusted_) return RecoverInNewLog(now_ms);
  return RecoverInPlace(now_ms);
}

absl::Status LogWriter::RecoverInPlace(int64_t now_ms) {
  if (!buffer_.empty()) {
    const absl::Status written = WriteBatch();
    if (!written.ok()) return written;
    // The batch leaves the buffer, so that it is not written twice if the sync fails.
    unsynced_.BeginGroup(written_, now_ms);
    unsynced_.Append(buffer_, written_);
    Recycle(buffer_, kKeptBuffer);
  }
  error_ = absl::OkStatus();
  if (options_.policy == FsyncPolicy::kNo) {
    safe_ = written_;
    unsynced_.Clear();
    return absl::OkStatus();
  }
  return SyncInline(now_ms);
}

absl::Status LogWriter::RecoverInNewLog(int64_t now_ms) {
  if (options_.policy == FsyncPolicy::kNo) {
    // The new log must not survive without the bytes before it. In this policy they are not kept in
    // memory, so they must be on disk first.
    const absl::Status synced = file_->Sync();
    lost_ = !synced.ok();
    if (lost_) return synced;
  }
  auto log = directory_.CreateLog();
  if (!log.ok()) return log.status();
  LogHeader header{log->sequence, safe_.offset, safe_.crc, 0};
  std::string content = FormatLogHeader(header);
  Check(ParseLogHeader(content, header), "a log header can be read back");
  LogPosition end{log->sequence, kLogHeaderBytes, header.crc};
  const std::string commands = absl::StrCat(unsynced_.Joined(), buffer_);
  for (std::string_view rest = commands; !rest.empty();) {
    const std::string_view batch = FirstCommands(rest, options_.max_batch_bytes);
    content += batch;
    end.crc = AppendAnnotation(end, 0, batch, content);
    end.offset = content.size();
    rest.remove_prefix(batch.size());
  }
  absl::Status status = AppendAll(*log->file, content);
  if (status.ok()) status = TimedSync(*log->file, now_ms);
  if (status.ok()) status = directory_.PublishLog(safe_.sequence, log->sequence);
  if (!status.ok()) {
    directory_.AbandonLog(log->sequence);
    return status;
  }
  // The bytes that the new log repeats are void in the old log. Our loader knows this from the
  // header. The truncation only helps other readers of the file, so it may fail.
  if (safe_.sequence == written_.sequence) file_->Truncate(safe_.offset).IgnoreError();
  UseFile(std::move(log->file));
  previous_ = safe_;
  written_ = safe_ = end;
  synced_ = end.offset;
  unsynced_.Clear();
  Recycle(buffer_, kKeptBuffer);
  error_ = absl::OkStatus();
  ++stats_.batches;
  return absl::OkStatus();
}

bool LogWriter::SyncAhead(int64_t now_ms, int& syncs) {
  if (!CollectSyncs(now_ms)) return false;
  const bool is_done = written_.offset - synced_ <= kLittleToSync || syncs == kMostSyncsAhead;
  if (!error_.ok() || is_done) return true;
  ++syncs;
  StartSync(0, now_ms);
  return false;
}

absl::Status LogWriter::SwitchTo(AofDirectory::NewLog log, int64_t now_ms) {
  Check(buffer_.empty(), "a log is switched after a Flush");
  const auto& logs = directory_.manifest().logs;
  if (logs.size() < 2 || logs.back().sequence != log.sequence ||
      logs[logs.size() - 2].sequence != written_.sequence) {
    return absl::AbortedError(
        absl::StrCat("log ", log.sequence, " no longer follows the log ", written_.sequence));
  }
  const absl::Status synced = SyncInline(now_ms);
  if (!synced.ok()) return synced;
  // safe_ stays at the end of the old log until the new log has been synced. If that sync fails,
  // the log that replaces the new one follows the old one.
  const absl::Status started = StartLog(std::move(log.file), log.sequence);
  if (started.ok() && options_.policy == FsyncPolicy::kNo) safe_ = written_;
  return started;
}

absl::StatusOr<LogPosition> LogWriter::Mark(int64_t now_ms) {
  Check(buffer_.empty(), "a log is marked after a Flush");
  if (absl::Status synced = SyncInline(now_ms); !synced.ok()) return synced;
  return written_;
}

absl::Status LogWriter::SetPolicy(FsyncPolicy policy, int64_t now_ms) {
  if (policy == options_.policy) return absl::OkStatus();
  // The policies keep different bytes in memory, so the new policy begins with none.
  const absl::Status synced = SyncInline(now_ms);
  if (synced.ok()) options_.policy = policy;
  return synced;
}

absl::Status LogWriter::Close(int64_t now_ms) {
  const absl::Status flushed = Flush(now_ms);
  return flushed.ok() ? SyncInline(now_ms) : flushed;
}

}  // namespace tally::server
