#include "server/durability/takeover.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/bytes/str_cat.h"
#include "server/config/config.h"
#include "server/durability/redis_files.h"
#include "server/interfaces/command_runner.h"
#include "server/log/log.h"

namespace tally::server {

absl::Status Takeover::Begin(const MoveOptions& options) {
  options_ = options;
  if (absl::Status status = FinishEarlier(); !status.ok()) return status;
  auto redis = FilesToTake();
  if (!redis.ok() || !*redis) return redis.status();
  parts_.report.TakesOver(**redis);
  stays_ = options_.import_path.empty() && !(*redis)->is_log && !parts_.server.config.appendonly &&
           parts_.server.config.rdb_format == RdbFormat::kRedis;
  Services& server = parts_.server;
  auto loader = RedisLoader::Open({server.engine, server.commands, *server.runner, server.config,
                                   options_, parts_.files.system()},
                                  std::move(**redis));
  if (!loader.ok()) return loader.status();
  redis_ = std::move(*loader);
  parts_.loader.BeginRedis(*redis_);
  stage_ = Stage::kLoading;
  return absl::OkStatus();
}

// A crash has come between the renaming of the old folder and that of the new one.
absl::Status Takeover::FinishEarlier() {
  FileSystem& files = parts_.files.system();
  const std::string& folder = parts_.server.config.appenddirname;
  const auto names = files.List(folder);
  const bool is_gone = !names.ok() || names->empty();
  return is_gone && IsSetAside(files, folder) ? parts_.files.FinishPutting() : absl::OkStatus();
}

absl::StatusOr<std::optional<RedisFiles>> Takeover::FilesToTake() const {
  FileSystem& files = parts_.files.system();
  const Config& config = parts_.server.config;
  if (options_.import_path.empty()) return FindRedisFiles(files, config);
  const auto names = files.List(config.appenddirname);
  if (names.ok() && !names->empty()) {
    return absl::AlreadyExistsError(
        StrCat("dir has data already, in ", config.appenddirname, ": import into an empty dir"));
  }
  return RedisFilesAt(files, options_.import_path);
}

absl::StatusOr<bool> Takeover::Slice(int64_t budget_us) {
  const int64_t begin_us = Clock::MonotonicMicros();
  absl::Status status;
  do {
    status = stage_ == Stage::kLoading ? Load(budget_us) : Write(budget_us);
  } while (status.ok() && running() && Clock::MonotonicMicros() - begin_us < budget_us);
  if (!status.ok()) stage_ = Stage::kIdle;
  if (!running()) redis_ = nullptr;
  if (!status.ok()) return status;
  return !running();
}

absl::Status Takeover::Load(int64_t budget_us) {
  const auto end = parts_.loader.LoadSlice(budget_us);
  if (!end.ok()) return end.status();
  if (!end->has_value()) return absl::OkStatus();
  absl::Status status = JudgeSkipped();
  if (stays_) {
    stage_ = Stage::kIdle;
    return status;
  }
  if (status.ok()) status = parts_.files.OpenBeside();
  if (status.ok()) status = parts_.rewriter.Start(Rewriter::Snapshot::kBase);
  stage_ = Stage::kWriting;
  return status;
}

absl::Status Takeover::JudgeSkipped() const {
  if (redis_->skipped().empty()) return absl::OkStatus();
  redis_->skipped().ForEachLine([this](std::string_view line) {
    parts_.server.log.Warning("Of Redis, without a type here: ", line);
  });
  if (options_.skip_unknown) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "the data of Redis has what has no type here; nothing was changed. --skip-unknown starts "
      "without it, --drop-field-ttl keeps fields of hashes without their deadlines");
}

absl::Status Takeover::Write(int64_t budget_us) {
  // The turn's end may have finished it.
  if (parts_.rewriter.running()) parts_.rewriter.RunFor(budget_us);
  if (parts_.rewriter.running()) {
    // While the disk is behind there is nothing else to do.
    if (!parts_.rewriter.NextSliceInMicros()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return absl::OkStatus();
  }
  absl::Status status = parts_.rewriter.results(Rewriter::Snapshot::kBase).last;
  if (status.ok()) status = PutInPlace();
  stage_ = Stage::kIdle;
  return status;
}

// The folder of the old log makes way for ours. What else there was is renamed after that: until
// then the next start would need it.
absl::Status Takeover::PutInPlace() {
  FileSystem& files = parts_.files.system();
  const std::string& folder = parts_.server.config.appenddirname;
  std::vector<std::string> names;
  for (const bool is_folder : {true, false}) {
    for (const std::string& path : redis_->redis().originals) {
      if ((path == folder) != is_folder) continue;
      auto name = SetAside(files, path);
      if (!name.ok()) return name.status();
      names.push_back(std::move(*name));
    }
    if (!is_folder) break;
    if (absl::Status status = parts_.files.PutInPlace(); !status.ok()) return status;
  }
  parts_.report.TookOver(names);
  return absl::OkStatus();
}

}  // namespace tally::server
