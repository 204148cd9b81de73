#include "server/durability/rewriter.h"

namespace tally::server {

using Waiting = Rewrite::Waiting;

Rewriter::Rewriter(Engine& engine, const Clock& clock, Stats& stats, DataFiles& files,
                   EffectLog& log, const PersistenceReport& report)
    : engine_(engine),
      clock_(clock),
      stats_(stats),
      files_(files),
      log_(log),
      report_(report),
      worker_(files.system().NewWorker()) {}

absl::Status Rewriter::Start() {
  if (running()) {
    return absl::AlreadyExistsError("Background append only file rewriting already in progress");
  }
  if (absl::Status status = files_.Open(); !status.ok()) return status;
  const bool is_retry = results_.pause.failures() > 0;
  rewrite_ = std::make_unique<Rewrite>(
      Rewrite::Parts{engine_, clock_, stats_, files_, log_, *worker_, report_}, ++epoch_, is_retry);
  return absl::OkStatus();
}

void Rewriter::StartAutomatic() {
  if (absl::Status status = Start(); !status.ok()) Fail(status);
}

absl::Status Rewriter::SaveNow() {
  // A rewrite that is under way saves an older state, and without a log later changes are nowhere.
  if (running() && !log_.is_on()) Cancel("another is asked for");
  if (!running()) {
    if (absl::Status status = Start(); !status.ok()) return status;
  }
  while (running()) RunSlice(INT64_MAX, Waiting::kForTheDisk);
  return results_.last;
}

void Rewriter::Cancel(std::string_view why) {
  if (!running()) return;
  report_.RewriteGivenUp(why);
  rewrite_->Abandon();
  if (worker_->busy()) worker_->Wait();
  rewrite_ = nullptr;
}

void Rewriter::TakeTurn(Pace pace) {
  if (!running()) return;
  if (pace == Pace::kStep) return RunSlice(0, Waiting::kNo);
  const int64_t begin = Clock::MonotonicMicros();
  const auto budget_us = pacing_.SliceDue(stats_.commands_processed, begin);
  if (!budget_us.has_value()) return;
  RunSlice(*budget_us, Waiting::kNo);
  pacing_.SliceRan(begin, Clock::MonotonicMicros());
}

std::optional<int64_t> Rewriter::NextSliceInMicros() {
  if (!running() || !rewrite_->HasWork()) return std::nullopt;
  return pacing_.NextSliceIn(Clock::MonotonicMicros());
}

void Rewriter::RunSlice(int64_t budget_us, Waiting waiting) {
  if (absl::Status status = rewrite_->Advance(budget_us, waiting); !status.ok()) Fail(status);
  if (!rewrite_->has_ended()) return;
  if (rewrite_->succeeded()) Succeed();
  rewrite_ = nullptr;
}

void Rewriter::Succeed() {
  files_.BaseReplaced(rewrite_->base().bytes(), rewrite_->covered_bytes());
  log_.set_awaits_base(false);
  const int64_t now = clock_.steady_ms();
  const int64_t took_ms = now - rewrite_->started_steady_ms();
  report_.RewriteDone(rewrite_->base().records(), rewrite_->base().bytes(), took_ms,
                      results_.pause.failures());
  results_.Succeeded(took_ms, clock_.now_ms(), now);
  stats_.changes_since_save -= rewrite_->changes();
}

// Reports a failure to the server's log once, and not again while retries fail with the same error.
void Rewriter::Fail(const absl::Status& status) {
  const bool is_new = results_.pause.failures() == 0 || status.message() != results_.last.message();
  if (is_new) report_.RewriteFailed(status);
  results_.Failed(status, clock_.steady_ms());
  if (running()) rewrite_->Abandon();
}

int64_t Rewriter::running_seconds() const {
  return running() ? (clock_.steady_ms() - rewrite_->started_steady_ms()) / 1000 : -1;
}

std::optional<SavingFigures> Rewriter::figures() const {
  return running() ? rewrite_->figures() : std::nullopt;
}

}  // namespace tally::server
