#include "server/durability/rewriter.h"

#include "core/bytes/str_cat.h"
#include "server/durability/rewrite.h"

namespace tally::server {

using Waiting = SnapshotJob::Waiting;

Rewriter::Rewriter(Engine& engine, const Config& config, const Clock& clock, Stats& stats,
                   DataFiles& files, EffectLog& log, const PersistenceReport& report)
    : engine_(engine),
      config_(config),
      clock_(clock),
      stats_(stats),
      files_(files),
      log_(log),
      report_(report),
      worker_(files.system().NewWorker()) {}

void Rewriter::ServerStarts() {
  base_results_.Started(clock_.now_ms(), clock_.steady_ms());
  rdb_results_.Started(clock_.now_ms(), clock_.steady_ms());
}

RewriteResults* Rewriter::results() {
  if (!kind_) return nullptr;
  return kind_ == Snapshot::kBase ? &base_results_ : &rdb_results_;
}

SnapshotJob::Parts Rewriter::JobParts() {
  return {engine_, clock_, stats_, log_, *worker_, report_};
}

// While there is no log, the files of our own form are as old as the last base, and the next start
// would take them for the newest.
RdbRequest Rewriter::OwnRdb() {
  RdbRequest request{.path = config_.dbfilename, .begun = {}, .done = {}, .then = {}};
  if (!log_.is_on() && files_.Exists()) request.then = [this] { return files_.Retire(); };
  return request;
}

void Rewriter::Begin(std::unique_ptr<SnapshotJob> job, std::optional<Snapshot> kind) {
  job_ = std::move(job);
  kind_ = kind;
  failure_ = absl::OkStatus();
  job_->Start();
}

absl::Status Rewriter::Start(Snapshot snapshot) {
  if (running()) {
    return absl::AlreadyExistsError("Background append only file rewriting already in progress");
  }
  const bool has_files = snapshot == Snapshot::kBase || files_.Exists();
  if (absl::Status status = has_files ? files_.Open() : absl::OkStatus(); !status.ok()) {
    return status;
  }
  const bool is_retry = results(snapshot).pause.failures() > 0;
  ++epoch_;
  if (snapshot == Snapshot::kBase) {
    Begin(std::make_unique<Rewrite>(JobParts(), files_, log_, epoch_, is_retry), snapshot);
  } else {
    Begin(std::make_unique<RdbSave>(JobParts(), files_.system(), OwnRdb(), config_.rdbcompression,
                                    epoch_),
          snapshot);
  }
  return absl::OkStatus();
}

void Rewriter::StartAutomatic(Snapshot snapshot) {
  const absl::Status status = Start(snapshot);
  if (status.ok()) return;
  kind_ = snapshot;
  Fail(status);
}

void Rewriter::StartRequested() {
  if (running() || requests_.empty()) return;
  RdbRequest request = std::move(requests_.front());
  requests_.pop_front();
  Begin(std::make_unique<RdbSave>(JobParts(), files_.system(), std::move(request),
                                  config_.rdbcompression, ++epoch_),
        std::nullopt);
}

absl::Status Rewriter::SaveNow(Snapshot snapshot) {
  // What is under way has an older state. Without a log later changes are nowhere, and an RDB is to
  // have them too.
  const bool serves = running() && kind_ == snapshot && snapshot == Snapshot::kBase && log_.is_on();
  if (running() && !serves) Cancel("another is asked for");
  if (!running()) {
    if (absl::Status status = Start(snapshot); !status.ok()) return status;
  }
  while (running()) RunSlice(INT64_MAX, Waiting::kForTheDisk);
  return results(snapshot).last;
}

void Rewriter::Cancel(std::string_view why) {
  if (!running()) return;
  report_.RewriteGivenUp(why);
  job_->Abandon();
  if (worker_->busy()) worker_->Wait();
  const auto job = std::move(job_);
  job->Settle(absl::CancelledError(StrCat("the snapshot is given up: ", why)), 0);
}

void Rewriter::TakeTurn(Pace pace) {
  StartRequested();
  if (!running()) return;
  if (pace == Pace::kStep) return RunSlice(0, Waiting::kNo);
  const int64_t begin_us = Clock::MonotonicMicros();
  const auto budget_us = pacing_.SliceDue(stats_.commands_processed, begin_us);
  if (!budget_us.has_value()) return;
  RunSlice(*budget_us, Waiting::kNo);
  pacing_.SliceRan(begin_us, Clock::MonotonicMicros());
}

std::optional<int64_t> Rewriter::NextSliceInMicros() {
  if (!running() || !job_->HasWork()) return std::nullopt;
  return pacing_.NextSliceIn(Clock::MonotonicMicros());
}

void Rewriter::RunSlice(int64_t budget_us, Waiting waiting) {
  if (absl::Status status = job_->Advance(budget_us, waiting); !status.ok()) Fail(status);
  if (running() && job_->has_ended()) Settle();
}

void Rewriter::Settle() {
  const auto job = std::move(job_);
  RewriteResults* const results = this->results();
  const uint64_t failures = results == nullptr ? 0 : results->pause.failures();
  if (job->succeeded() && results != nullptr) {
    const int64_t now_ms = clock_.steady_ms();
    results->Succeeded(now_ms - job->started_steady_ms(), clock_.now_ms(), now_ms);
    if (kind_ == Snapshot::kBase) base_place_ = {job->stream_id(), job->stream_offset()};
    if (kind_ == saved()) stats_.changes_since_save -= job->changes();
  }
  job->Settle(job->succeeded() ? absl::OkStatus() : failure_, failures);
}

// Reports a failure to the server's log once, and not again while retries fail with the same error.
void Rewriter::Fail(const absl::Status& status) {
  failure_ = status;
  RewriteResults* const results = this->results();
  const bool is_new = results == nullptr || results->pause.failures() == 0 ||
                      status.message() != results->last.message();
  if (is_new) report_.RewriteFailed(status);
  if (results != nullptr) results->Failed(status, clock_.steady_ms());
  if (running()) job_->Abandon();
}

int64_t Rewriter::running_seconds() const {
  return running() ? (clock_.steady_ms() - job_->started_steady_ms()) / 1000 : -1;
}

std::optional<SavingFigures> Rewriter::figures() const {
  return running() ? job_->figures() : std::nullopt;
}

}  // namespace tally::server
