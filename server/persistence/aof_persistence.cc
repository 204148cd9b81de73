#include "server/persistence/aof_persistence.h"

#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "core/snapshot/record_codec.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/log/log.h"
#include "server/persistence/redis_files.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {
namespace {

// What a slice of a rewrite takes where nobody is being served, and where somebody is. A client
// that was served counts for a while: its next request is still on its way, and would find itself
// behind a long slice.
constexpr int64_t kSliceMicros = 1000;
constexpr int64_t kServedSliceMicros = 250;
constexpr int64_t kServedMicros = 5000;
// A slice waits for a turn without requests, and until so many times what the last one took is
// over; or, where all turns have requests, until so many times of it are.
constexpr int64_t kIdleTimes = 1;
constexpr int64_t kBusyTimes = 7;
constexpr int64_t kRecoveryIntervalMs = 1000;
// More logs than this are rewritten however small they are: each recovery from a failed sync may
// add one, and the manifest lists them all.
constexpr size_t kMostLogs = 64;

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

AofPersistence::AofPersistence(Services& server, CommandRunner& runner, FileSystem& files)
    : server_(server), runner_(runner), files_(files), worker_(files.NewWorker()) {}

AofPersistence::~AofPersistence() { server_.effects.Detach(*this); }

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
  last_save_steady_ms_ = server_.clock.steady_ms();
  const bool exists = files_.List(server_.config.appenddirname).ok();
  if (!server_.config.appendonly && !exists) {
    WarnOfRedisFiles(files_, server_.config, server_.log);
    return absl::OkStatus();
  }
  if (absl::Status status = OpenDirectory(); !status.ok()) return status;
  const Manifest& manifest = directory_->manifest();
  if (!manifest.base.has_value() && manifest.logs.empty()) {
    WarnOfRedisFiles(files_, server_.config, server_.log);
  }
  return BeginLoading();
}

absl::Status AofPersistence::BeginLoading() {
  auto loader = AofLoader::Open(*directory_, server_.config.aof_load_truncated);
  if (!loader.ok()) return loader.status();
  loading_ = std::make_unique<Loading>(Clock::MonotonicMicros());
  loading_->loader = std::move(*loader);
  loading_->client.authenticated = true;
  loading_->started_ms = server_.clock.now_ms();
  server_.loading = true;
  server_.engine.set_expiring(false);
  return absl::OkStatus();
}

absl::Status AofPersistence::LoadSlice(int64_t budget_us) {
  if (loading_ == nullptr) return absl::OkStatus();
  const auto on_record = [&](std::string_view record) {
    return DecodeRecord(record, server_.engine);
  };
  const auto preview = [&](std::span<const std::string_view> records) {
    PrefetchForRecords(records, server_.engine);
  };
  const auto on_command = [&](Args args) { return Replay(loading_->client, args); };
  const int64_t begin = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  do {
    more = loading_->loader->Step(on_record, preview, on_command);
  } while (more.ok() && *more && Clock::MonotonicMicros() - begin < budget_us);
  if (more.ok() && *more) {
    ReportLoading();
    return absl::OkStatus();
  }
  const LogPosition end = loading_->loader->end();
  const uint64_t synced = loading_->loader->synced();
  if (more.ok()) {
    ReportLoaded();
    const AofLoader& loader = *loading_->loader;
    base_bytes_ = loader.base_bytes();
    older_log_bytes_ = static_cast<int64_t>(loader.bytes_total() - loader.torn_bytes()) -
                       static_cast<int64_t>(base_bytes_ + end.offset + loader.covered_bytes());
  }
  loading_ = nullptr;
  server_.stats.changes_since_save = 0;
  server_.loading = false;
  server_.engine.set_expiring(true);
  if (!more.ok()) return more.status();
  return server_.config.appendonly && writer_ == nullptr ? OpenLog(end, synced) : absl::OkStatus();
}

absl::Status AofPersistence::OpenLog(const LogPosition& end, uint64_t synced) {
  auto writer = LogWriter::Open(*directory_, end, synced, {PolicyOf(server_.config.appendfsync)});
  if (!writer.ok()) return writer.status();
  server_.effects.Detach(*this);
  writer_ = std::move(*writer);
  begins_within_log_ = false;
  server_.effects.Attach(*this);
  return absl::OkStatus();
}

absl::Status AofPersistence::Replay(Client& client, Args args) {
  const CommandTable::Item* item = server_.commands.Resolve(args);
  if (item == nullptr || item->command->handler == nullptr ||
      !ArityFits(*item->command, args.size())) {
    return absl::DataLossError(StrCat("not a command: ", args[0]));
  }
  client.output.Clear();
  runner_.Replay(client, *item, args);
  if (!client.output.empty() && client.output[0] == '-') {
    return absl::DataLossError(
        StrCat("a command that fails: ", args[0], ": ", client.output.Joined()));
  }
  return absl::OkStatus();
}

absl::Status AofPersistence::Close() {
  CancelRewrite("the server stops");
  server_.effects.DeliverAll();
  return writer_ == nullptr ? absl::OkStatus() : writer_->Close(server_.clock.steady_ms());
}

const absl::Status& AofPersistence::write_error() const {
  static const absl::Status kOk;
  return writer_ == nullptr ? kOk : writer_->error();
}

// The log comes last: what the rewrite waits for must not pass between it and the acknowledgement.
absl::Status AofPersistence::FlushTurn(RewritePace pace) {
  server_.effects.Deliver();
  if (rewrite_ != nullptr && pace == RewritePace::kStep) {
    RewriteSlice(0);
  } else if (rewrite_ != nullptr) {
    GoOnRewriting();
  }
  if (writer_ == nullptr || writer_->pending_bytes() == 0) return absl::OkStatus();
  return writer_->Flush(server_.clock.steady_ms());
}

bool AofPersistence::Serving(int64_t now_us) const {
  return now_us - last_served_us_ < kServedMicros;
}

void AofPersistence::GoOnRewriting() {
  const uint64_t commands = server_.stats.commands_processed;
  const int64_t begin = Clock::MonotonicMicros();
  const bool idle = std::exchange(served_commands_, commands) == commands;
  if (!idle) last_served_us_ = begin;
  const bool serving = Serving(begin);
  if (serving && begin < (idle ? next_idle_slice_us_ : next_busy_slice_us_)) return;
  RewriteSlice(serving ? kServedSliceMicros : kSliceMicros);
  const int64_t end = Clock::MonotonicMicros();
  next_idle_slice_us_ = end + kIdleTimes * (end - begin);
  next_busy_slice_us_ = end + kBusyTimes * (end - begin);
}

absl::Status AofPersistence::FlushFinished() {
  server_.effects.Deliver();
  if (writer_ == nullptr || writer_->pending_bytes() == 0) return absl::OkStatus();
  return writer_->Flush(server_.clock.steady_ms());
}

void AofPersistence::Receive(uint64_t, std::string_view effects) { writer_->Append(effects); }

void AofPersistence::Cron() {
  if (!write_error().ok()) Recover();
  if (SnapshotIsDue()) {
    if (rewrite_pause_.failures() == 0) {
      server_.log.Notice(server_.stats.changes_since_save,
                         " changes are not in a snapshot: saving");
    }
    if (absl::Status status = StartRewrite(); !status.ok()) FailRewrite(status);
    return;
  }
  if (!RewriteIsDue()) return;
  if (rewrite_pause_.failures() == 0) {
    server_.log.Notice("The log has grown by ", bytes_since_base(), " bytes: rewriting");
  }
  if (absl::Status status = StartRewrite(); !status.ok()) FailRewrite(status);
}

bool AofPersistence::RewriteIsDue() const {
  if (writer_ == nullptr || rewrite_ != nullptr || !write_error().ok()) return false;
  if (!rewrite_pause_.IsDue(server_.clock.steady_ms())) return false;
  if (directory_->manifest().logs.size() > kMostLogs) return true;
  const Config& config = server_.config;
  if (config.auto_aof_rewrite_percentage == 0) return false;
  const auto percentage = static_cast<uint64_t>(config.auto_aof_rewrite_percentage);
  const uint64_t grown = bytes_since_base();
  return grown >= static_cast<uint64_t>(config.auto_aof_rewrite_min_size) &&
         grown * 100 >= base_bytes_ * percentage;
}

void AofPersistence::Recover() {
  const int64_t now = server_.clock.steady_ms();
  // worker_ and the log's writer must not change the directory at the same time.
  if (worker_->busy() || now - last_recovery_ms_ < kRecoveryIntervalMs) return;
  last_recovery_ms_ = now;
  const absl::Status status = writer_->lost() ? StartLog() : writer_->TryRecover(now);
  if (status.ok()) server_.log.Notice("The append-only file can be written again");
}

uint64_t AofPersistence::bytes_since_base() const {
  if (writer_ == nullptr) return 0;
  const auto size = static_cast<int64_t>(writer_->current_size());
  return static_cast<uint64_t>(std::max<int64_t>(older_log_bytes_ + size, 0));
}

absl::Status AofPersistence::ApplyConfig() {
  if (loading_ != nullptr) return absl::FailedPreconditionError("the data is being loaded");
  const bool wanted = server_.config.appendonly;
  if (wanted != (writer_ != nullptr)) return wanted ? StartLog() : StopLog();
  if (writer_ == nullptr) return absl::OkStatus();
  return writer_->SetPolicy(PolicyOf(server_.config.appendfsync), server_.clock.steady_ms());
}

// The base is written at once: what changed while it is written would be in no log yet.
absl::Status AofPersistence::StartLog() {
  CancelRewrite("the log begins behind another base");
  if (absl::Status status = SaveNow(); !status.ok()) return status;
  return OpenLog(LogPosition{}, 0);
}

absl::Status AofPersistence::StopLog() {
  CancelRewrite("the log ends");
  server_.effects.DeliverAll();
  if (absl::Status status = writer_->Close(server_.clock.steady_ms()); !status.ok()) return status;
  server_.effects.Detach(*this);
  writer_ = nullptr;
  older_log_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status AofPersistence::ExamineFiles() const {
  auto loader = AofLoader::Open(*directory_, server_.config.aof_load_truncated);
  if (!loader.ok()) return loader.status();
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more) {
    more = (*loader)->Step([](std::string_view) { return absl::OkStatus(); },
                           [](std::span<const std::string_view>) {},
                           [](Args) { return absl::OkStatus(); });
  }
  return more.status();
}

// Nothing is dropped before it is known that the files can be read to their ends.
absl::Status AofPersistence::Reload() {
  if (loading_ != nullptr) return absl::FailedPreconditionError("the data is being loaded");
  if (absl::Status status = SaveNow(); !status.ok()) return status;
  // What has happened since a base that was under way already began.
  if (writer_ != nullptr) {
    server_.effects.DeliverAll();
    if (absl::Status status = writer_->Flush(server_.clock.steady_ms()); !status.ok())
      return status;
  }
  if (absl::Status status = ExamineFiles(); !status.ok()) return status;
  server_.effects.Detach(*this);
  for (size_t i = 0; i < server_.engine.databases(); ++i) server_.engine.database(i).Clear();
  server_.engine.policies().Clear();
  absl::Status status = BeginLoading();
  if (status.ok()) status = LoadSlice(INT64_MAX);
  if (writer_ != nullptr) server_.effects.Attach(*this);
  return status;
}

}  // namespace tally::server
