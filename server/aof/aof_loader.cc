#include "server/aof/aof_loader.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace tally::server {

absl::StatusOr<std::unique_ptr<AofLoader>> AofLoader::Open(const AofDirectory& directory,
                                                           bool load_truncated) {
  std::unique_ptr<AofLoader> loader(new AofLoader(load_truncated));
  absl::Status status = loader->OpenBase(directory);
  if (status.ok()) status = loader->OpenLogs(directory);
  if (!status.ok()) return status;
  return loader;
}

absl::Status AofLoader::OpenBase(const AofDirectory& directory) {
  const Manifest& manifest = directory.manifest();
  if (!manifest.base.has_value()) return absl::OkStatus();
  auto base = BaseReader::Open(directory.files(), directory.PathOf(*manifest.base),
                               manifest.base->sequence);
  if (!base.ok()) return base.status();
  base_ = std::move(*base);
  base_done_ = false;
  bytes_total_ += base_->file_size();
  if (manifest.logs.empty() || manifest.logs.front().sequence < base_->header().first_log) {
    return absl::DataLossError(absl::StrCat(directory.ManifestPath(), ": ", base_->path(),
                                            " is not continued by the first log"));
  }
  return absl::OkStatus();
}

absl::Status AofLoader::OpenLogs(const AofDirectory& directory) {
  std::string headless;
  for (const ManifestEntry& entry : directory.manifest().logs) {
    auto log = LogReader::Open(directory.files(), directory.PathOf(entry), entry.sequence);
    if (!log.ok()) return log.status();
    if (!(*log)->header().has_value()) {
      // The log of a rewrite that had not begun to write, or of which nothing reached the disk. No
      // log with a header may follow it.
      if (headless.empty()) headless = (*log)->path();
      continue;
    }
    if (!headless.empty()) {
      return absl::DataLossError(
          absl::StrCat(headless, " offset 0: no header, but ", (*log)->path(), " follows"));
    }
    if (!logs_.empty()) {
      logs_.back()->ExpectEnd((*log)->header()->previous_offset, (*log)->header()->previous_crc);
    }
    logs_.push_back(std::move(*log));
    bytes_total_ += logs_.back()->file_size();
  }
  std::optional<BaseHeader> base;
  if (base_ != nullptr) base = base_->header();
  return BeginLogs(base, logs_);
}

absl::Status AofLoader::BeginLogs(const std::optional<BaseHeader>& base,
                                  std::span<const std::unique_ptr<LogReader>> logs) {
  const std::optional<LogHeader> header = logs.empty() ? std::nullopt : logs.front()->header();
  if (!base.has_value()) {
    if (!header.has_value() || header->previous_offset == 0) return absl::OkStatus();
    return absl::DataLossError(
        absl::StrCat(logs.front()->path(), " continues a log that is not listed"));
  }
  if (base->first_offset == 0) return absl::OkStatus();
  if (!header.has_value() || header->sequence != base->first_log) {
    return absl::DataLossError(absl::StrCat("the base is continued by log ", base->first_log,
                                            " from offset ", base->first_offset,
                                            " on, which is not there"));
  }
  return logs.front()->BeginAt(base->first_offset, base->first_crc);
}

absl::StatusOr<bool> AofLoader::Step(RecordReader on_record, RecordPreview preview,
                                     CommandSink on_command) {
  if (!base_done_) {
    const auto more = base_->NextBlock(on_record, preview);
    if (!more.ok()) return more.status();
    base_done_ = !*more;
    return true;
  }
  if (current_ == logs_.size()) return false;
  const auto step = logs_[current_]->NextBatch(on_command);
  if (!step.ok()) return step.status();
  if (*step == LogReader::Step::kBatch) return true;
  absl::Status finished = FinishLog(*step);
  if (!finished.ok()) return finished;
  return current_ < logs_.size();
}

absl::Status AofLoader::FinishLog(LogReader::Step step) {
  const LogReader& log = *logs_[current_];
  end_ = log.position();
  synced_ = log.synced();
  ++current_;
  if (step == LogReader::Step::kEnd) return absl::OkStatus();
  if (!load_truncated_) {
    return absl::DataLossError(absl::StrCat(log.path(), " offset ", end_.offset,
                                            ": the last batch is incomplete (", log.tail_bytes(),
                                            " bytes) and aof-load-truncated is no"));
  }
  torn_path_ = log.path();
  torn_bytes_ = log.tail_bytes();
  return absl::OkStatus();
}

uint64_t AofLoader::bytes_done() const {
  uint64_t bytes = base_ == nullptr ? 0 : base_->offset();
  for (const auto& log : logs_) bytes += log->position().offset;
  return bytes;
}

uint64_t AofLoader::commands() const {
  uint64_t commands = 0;
  for (const auto& log : logs_) commands += log->commands();
  return commands;
}

}  // namespace tally::server
