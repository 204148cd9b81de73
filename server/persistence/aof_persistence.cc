#include "server/persistence/aof_persistence.h"

#include <algorithm>

#include "core/bytes/str_cat.h"
#include "server/aof/aof_loader.h"
#include "server/persistence/record_codec.h"

namespace tally::server {
namespace {

constexpr int64_t kSliceMicros = 1000;
constexpr int64_t kRecoveryIntervalMs = 1000;
constexpr int64_t kProgressMicros = 1'000'000;

std::string TextOf(const absl::Status& status) { return std::string(status.message()); }

AppendFsync PolicyOf(FsyncPolicy policy) {
  switch (policy) {
    case FsyncPolicy::kAlways:
      return AppendFsync::kAlways;
    case FsyncPolicy::kEverysec:
      return AppendFsync::kEverySec;
    case FsyncPolicy::kNo:
      return AppendFsync::kNo;
  }
  return AppendFsync::kAlways;
}

}  // namespace

AofPersistence::AofPersistence(ServerState& server, CommandRunner& runner, FileSystem& files)
    : server_(server), runner_(runner), files_(files) {}

AofPersistence::~AofPersistence() = default;

absl::Status AofPersistence::OpenDirectory() {
  if (directory_ != nullptr) return absl::OkStatus();
  auto directory =
      AofDirectory::Open(files_, server_.config.appenddirname, server_.config.appendfilename);
  if (!directory.ok()) return directory.status();
  directory_ = std::move(*directory);
  return absl::OkStatus();
}

absl::Status AofPersistence::Open() {
  last_save_ms_ = server_.clock.now_ms();
  const bool exists = files_.List(server_.config.appenddirname).ok();
  if (!server_.config.appendonly && !exists) return absl::OkStatus();
  if (absl::Status status = OpenDirectory(); !status.ok()) return status;
  if (absl::Status status = Load(); !status.ok()) return status;
  if (!server_.config.appendonly) return absl::OkStatus();
  auto writer = LogWriter::Open(*directory_, end_, {PolicyOf(server_.config.appendfsync)});
  if (!writer.ok()) return writer.status();
  writer_ = std::move(*writer);
  server_.effects.set_buffer(&writer_->buffer());
  server_.effects.ForgetDatabase();
  return absl::OkStatus();
}

absl::Status AofPersistence::Load() {
  auto loader = AofLoader::Open(*directory_, server_.config.aof_load_truncated);
  if (!loader.ok()) return loader.status();
  Client client;
  client.authenticated = true;
  server_.loading = true;
  server_.engine.set_expiring(false);
  load_started_us_ = last_progress_us_ = Clock::MonotonicMicros();
  const auto on_record = [&](std::string_view record) {
    return DecodeRecord(record, server_.engine);
  };
  const auto on_command = [&](Args args) { return Replay(client, args); };
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) {
    more = (*loader)->Step(on_record, on_command);
    ReportProgress((*loader)->bytes_done(), (*loader)->bytes_total());
  }
  server_.loading = false;
  server_.engine.set_expiring(true);
  if (!more.ok()) return more.status();
  end_ = (*loader)->end();
  older_log_bytes_ = 0;
  if ((*loader)->torn_bytes() > 0) {
    server_.log.Warning("Cutting a torn tail of ", (*loader)->torn_bytes(), " bytes off ",
                        (*loader)->torn_path());
  }
  uint64_t keys = 0;
  for (size_t i = 0; i < server_.engine.databases(); ++i) keys += server_.engine.database(i).size();
  server_.log.Notice("Loaded ", keys, " keys from ", (*loader)->bytes_total(), " bytes in ",
                     (Clock::MonotonicMicros() - load_started_us_) / 1000, " ms");
  return absl::OkStatus();
}

absl::Status AofPersistence::Replay(Client& client, Args args) {
  const CommandTable::Item* item = server_.commands.Resolve(args);
  if (item == nullptr || item->command->handler == nullptr ||
      !ArityFits(*item->command, args.size())) {
    return absl::DataLossError(StrCat("not a command: ", args[0]));
  }
  client.output.clear();
  runner_.Run(client, *item, args);
  if (client.output.starts_with('-')) {
    return absl::DataLossError(StrCat("a command that fails: ", args[0], ": ", client.output));
  }
  return absl::OkStatus();
}

void AofPersistence::ReportProgress(uint64_t done, uint64_t total) {
  const int64_t now = Clock::MonotonicMicros();
  if (now - last_progress_us_ < kProgressMicros || done == 0) return;
  last_progress_us_ = now;
  uint64_t keys = 0;
  for (size_t i = 0; i < server_.engine.databases(); ++i) keys += server_.engine.database(i).size();
  const auto elapsed = static_cast<uint64_t>(now - load_started_us_);
  server_.log.Notice("Loading: ", done * 100 / std::max<uint64_t>(total, 1), "%, ", keys,
                     " keys, about ", elapsed * (total - done) / done / 1'000'000, " s left");
}

absl::Status AofPersistence::Close() {
  while (rewrite_ != nullptr && rewrite_->walk != nullptr) RewriteSlice(kSliceMicros);
  if (rewrite_ != nullptr) {
    if (absl::Status status = rewrite_->writer->WaitSynced(); status.ok()) RewriteSlice(0);
  }
  return writer_ == nullptr ? absl::OkStatus() : writer_->Close(server_.clock.now_ms());
}

const absl::Status& AofPersistence::write_error() const {
  static const absl::Status kOk;
  return writer_ == nullptr ? kOk : writer_->error();
}

absl::Status AofPersistence::FlushTurn() {
  absl::Status status;
  if (writer_ != nullptr && writer_->pending_bytes() > 0) {
    status = writer_->Flush(server_.clock.now_ms());
  }
  if (rewrite_ != nullptr) RewriteSlice(kSliceMicros);
  return status;
}

void AofPersistence::Cron() {
  const int64_t now = server_.clock.now_ms();
  if (!write_error().ok() && now - last_recovery_ms_ >= kRecoveryIntervalMs) {
    last_recovery_ms_ = now;
    if (writer_->TryRecover(now).ok()) {
      server_.log.Notice("The append-only file can be written again");
    }
  }
  const Config& config = server_.config;
  if (writer_ == nullptr || rewrite_ != nullptr || config.auto_aof_rewrite_percentage == 0) return;
  const auto percentage = static_cast<uint64_t>(config.auto_aof_rewrite_percentage);
  const uint64_t grown = bytes_since_base();
  if (grown >= static_cast<uint64_t>(config.auto_aof_rewrite_min_size) &&
      grown * 100 >= base_bytes_ * percentage) {
    server_.log.Notice("The log has grown by ", grown, " bytes: rewriting");
    if (absl::Status status = StartRewrite(); !status.ok()) FailRewrite(status);
  }
}

uint64_t AofPersistence::bytes_since_base() const {
  return writer_ == nullptr ? 0 : older_log_bytes_ + writer_->current_size();
}

absl::Status AofPersistence::ApplyConfig() {
  if (server_.config.appendonly != (writer_ != nullptr)) {
    return absl::FailedPreconditionError("appendonly can only be set at start");
  }
  if (writer_ == nullptr) return absl::OkStatus();
  return writer_->SetPolicy(PolicyOf(server_.config.appendfsync), server_.clock.now_ms());
}

absl::Status AofPersistence::Reload() {
  if (absl::Status status = SaveNow(); !status.ok()) return status;
  server_.effects.set_buffer(nullptr);
  for (size_t i = 0; i < server_.engine.databases(); ++i) server_.engine.database(i).Clear();
  const absl::Status status = Load();
  if (writer_ != nullptr) server_.effects.set_buffer(&writer_->buffer());
  return status;
}

void AofPersistence::AppendInfo(std::string& out) const {
  const auto row = [&](std::string_view name, auto value) {
    StrAppend(out, name, ":", value, "\r\n");
  };
  const std::string_view rewrite_status = last_rewrite_.ok() ? "ok" : "err";
  row("loading", server_.loading ? 1 : 0);
  row("rdb_changes_since_last_save", server_.stats.changes_since_save);
  row("rdb_bgsave_in_progress", rewriting() ? 1 : 0);
  row("rdb_last_save_time", last_save_ms_ / 1000);
  row("rdb_last_bgsave_status", rewrite_status);
  row("aof_enabled", writer_ != nullptr ? 1 : 0);
  row("aof_rewrite_in_progress", rewriting() ? 1 : 0);
  row("aof_rewrite_scheduled", 0);
  row("aof_last_bgrewrite_status", rewrite_status);
  row("aof_last_write_status", write_error().ok() ? "ok" : "err");
  if (rewriting() && rewrite_->walk != nullptr)
    row("aof_rewrite_keys_saved", rewrite_->walk->keys());
  if (writer_ == nullptr) return;
  row("aof_current_size", base_bytes_ + bytes_since_base());
  row("aof_base_size", base_bytes_);
  row("aof_buffer_length", writer_->pending_bytes());
  row("aof_pending_bio_fsync", writer_->fsync_running() ? 1 : 0);
  row("aof_delayed_fsync", writer_->stats().delayed_fsyncs);
}

}  // namespace tally::server
