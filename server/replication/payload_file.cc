#include "server/replication/payload_file.h"

#include <utility>

#include "core/bytes/str_cat.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// The keys that are checked are dropped when there are more than this.
constexpr size_t kMostScratchKeys = 1000;
constexpr int kStepsTogether = 32;

}  // namespace

const std::string& PayloadFile::Path() {
  static const std::string kPath = "temp-replica.rdb";
  return kPath;
}

absl::Status PayloadFile::Create() {
  Remove();
  auto file = parts_.files.Create(Path());
  if (!file.ok()) return file.status();
  file_ = std::move(*file);
  exists_ = true;
  return absl::OkStatus();
}

absl::Status PayloadFile::BeginCheck(const MoveOptions& options) {
  file_ = nullptr;
  options_ = options;
  const auto is_base = BaseReader::IsBase(parts_.files, Path());
  if (!is_base.ok()) return is_base.status();
  is_base_ = *is_base;
  if (is_base_) {
    auto base = BaseReader::Open(parts_.files, Path(), std::nullopt);
    if (base.ok()) base_ = std::move(*base);
    return base.status();
  }
  const Engine& engine = parts_.engine;
  scratch_ = std::make_unique<Engine>(engine.databases(), engine.seed(), parts_.engine.zones());
  RedisFiles redis;
  redis.paths = {Path()};
  auto loader = RedisLoader::Open(
      {*scratch_, parts_.commands, parts_.runner, parts_.config, options, parts_.files},
      std::move(redis));
  if (!loader.ok()) return loader.status();
  loader_ = std::move(*loader);
  return absl::OkStatus();
}

absl::StatusOr<bool> PayloadFile::CheckBase(int64_t budget_us) {
  const int64_t begin_us = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  while (more.ok() && *more && Clock::MonotonicMicros() - begin_us < budget_us) {
    more = base_->NextBlock([](std::string_view) { return absl::OkStatus(); });
  }
  if (!more.ok()) return more.status();
  if (!*more) base_ = nullptr;
  return !*more;
}

absl::StatusOr<bool> PayloadFile::Check(int64_t budget_us) {
  if (is_base_) return CheckBase(budget_us);
  const int64_t begin_us = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  do {
    for (int i = 0; i < kStepsTogether && more.ok() && *more; ++i) more = loader_->Step(0);
    EmptyScratch(kMostScratchKeys);
  } while (more.ok() && *more && Clock::MonotonicMicros() - begin_us < budget_us);
  if (!more.ok()) return more.status();
  if (*more) return false;
  absl::Status status = JudgeSkipped();
  loader_ = nullptr;
  scratch_ = nullptr;
  if (!status.ok()) return status;
  return true;
}

absl::Status PayloadFile::JudgeSkipped() const {
  if (loader_->skipped().empty() || options_.skip_unknown) return absl::OkStatus();
  std::string what;
  loader_->skipped().ForEachLine(
      [&](std::string_view line) { StrAppend(what, what.empty() ? "" : "; ", line); });
  return absl::UnimplementedError(StrCat("the data of the primary has what has no type here (",
                                         what, "); replica-unknown-command skip takes the rest"));
}

void PayloadFile::EmptyScratch(size_t most_keys) {
  for (size_t i = 0; i < scratch_->databases(); ++i) {
    if (scratch_->database(i).size() > most_keys) scratch_->database(i).Clear();
  }
  while (!scratch_->reclaimer().empty()) scratch_->reclaimer().FreeSome(kMostScratchKeys);
}

void PayloadFile::Remove() {
  file_ = nullptr;
  base_ = nullptr;
  loader_ = nullptr;
  scratch_ = nullptr;
  if (std::exchange(exists_, false)) parts_.files.Remove(Path()).IgnoreError();
}

}  // namespace tally::server
