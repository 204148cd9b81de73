#include "server/durability/data_replacement.h"

#include <chrono>
#include <thread>
#include <utility>

#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/durability/data_set_aside.h"
#include "server/interfaces/command_runner.h"
#include "server/state/clock.h"
#include "server/state/stats.h"

namespace tally::server {

absl::Status DataReplacement::Begin(const std::string& path, const MoveOptions& options) {
  const auto is_base = BaseReader::IsBase(parts_.files.system(), path);
  if (!is_base.ok()) return is_base.status();
  if (*is_base) return BeginBase(path);
  RedisFiles redis;
  redis.paths = {path};
  auto loader =
      RedisLoader::Open({parts_.server.engine, parts_.server.commands, *parts_.server.runner,
                         parts_.server.config, options, parts_.files.system()},
                        std::move(redis));
  if (!loader.ok()) return loader.status();
  if (absl::Status status = DropData(); !status.ok()) return status;
  redis_ = std::move(*loader);
  parts_.loader.BeginRedis(*redis_);
  stage_ = Stage::kLoading;
  return absl::OkStatus();
}

absl::Status DataReplacement::BeginBase(const std::string& path) {
  auto base = BaseReader::Open(parts_.files.system(), path, std::nullopt);
  if (!base.ok()) return base.status();
  if (absl::Status status = DropData(); !status.ok()) return status;
  parts_.loader.BeginBase(std::move(*base));
  stage_ = Stage::kLoading;
  return absl::OkStatus();
}

// What was there is freed in slices.
absl::Status DataReplacement::DropData() {
  if (absl::Status status = parts_.log.FlushAll(); !status.ok()) return status;
  parts_.rewriter.Cancel("other data replaces all that is here");
  parts_.log.Pause();
  const DataSetAside old(parts_.server.engine);
  return absl::OkStatus();
}

void DataReplacement::Slice(int64_t budget_us) {
  switch (stage_) {
    case Stage::kLoading:
      return Load(budget_us);
    case Stage::kWriting:
      return Write(budget_us);
    case Stage::kRestoring: {
      const auto end = parts_.loader.LoadSlice(budget_us);
      if (!end.ok() || end->has_value()) Finish();
      return;
    }
    case Stage::kIdle:
      return;
  }
}

void DataReplacement::Load(int64_t budget_us) {
  const auto end = parts_.loader.LoadSlice(budget_us);
  if (end.ok() && !end->has_value()) return;
  redis_ = nullptr;
  result_ = end.status();
  if (!end.ok()) return Restore();
  stage_ = Stage::kWriting;
  saves_before_ = parts_.rewriter.results(Rewriter::Snapshot::kBase).saves;
  if (!parts_.log.is_on()) Finish();
}

// What was loaded until then is nobody's data, and the files are still those of the old data.
void DataReplacement::Restore() {
  {
    const DataSetAside rest(parts_.server.engine);
  }
  stage_ = Stage::kRestoring;
  const bool has_files = parts_.log.is_on();
  if (!has_files || !parts_.loader.Begin(parts_.server.config.aof_load_truncated).ok()) Finish();
}

// The state on disk must not become a mixture: the log goes on only after the new base.
void DataReplacement::Write(int64_t budget_us) {
  // The turn's end may have finished it.
  if (parts_.rewriter.running()) parts_.rewriter.RunFor(budget_us);
  if (parts_.rewriter.running()) {
    // While the disk is behind there is nothing else to do.
    if (!parts_.rewriter.NextSliceInMicros()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return;
  }
  if (parts_.rewriter.results(Rewriter::Snapshot::kBase).saves > saves_before_) return Finish();
  if (parts_.rewriter.results(Rewriter::Snapshot::kBase)
          .pause.IsDue(parts_.server.clock.steady_ms())) {
    parts_.rewriter.StartAutomatic(Rewriter::Snapshot::kBase);
  }
}

void DataReplacement::Finish() {
  parts_.server.stats.changes_since_save = 0;
  // A log that is lost goes on in a new one. If that cannot be opened, it is tried again later.
  if (parts_.log.lost()) parts_.log.Open(LogPosition{}, 0).IgnoreError();
  parts_.log.Resume();
  stage_ = Stage::kIdle;
}

}  // namespace tally::server
