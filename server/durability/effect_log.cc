#include "server/durability/effect_log.h"

#include <utility>

#include "server/durability/stream_note.h"

namespace tally::server {
namespace {

constexpr int64_t kRecoveryIntervalMs = 1000;

}  // namespace

EffectLog::EffectLog(const Config& config, const Clock& clock, EffectStream& effects,
                     DataFiles& files)
    : config_(config), clock_(clock), effects_(effects), files_(files) {}

EffectLog::~EffectLog() { effects_.Detach(*this); }

absl::Status EffectLog::Open(const LogPosition& end, uint64_t synced) {
  auto writer = LogWriter::Open(files_.directory(), end, synced, {config_.appendfsync});
  if (!writer.ok()) return writer.status();
  effects_.Detach(*this);
  writer_ = std::move(*writer);
  awaits_base_ = false;
  effects_.Attach(*this);
  NoteAll();
  return absl::OkStatus();
}

void EffectLog::NoteStream(uint64_t offset) {
  if (id_ == nullptr || id_->id() == StreamId::None()) return;
  noted_id_ = id_->id();
  StreamNote{noted_id_, offset, effects_.database_before()}.AppendTo(writer_->buffer());
}

void EffectLog::NoteNewId(uint64_t offset) {
  // While other data takes the place of what the log has, the new id is not that of the log.
  if (!paused_ && id_ != nullptr && id_->id() != noted_id_) NoteStream(offset);
}

void EffectLog::NotePlace(uint64_t offset) {
  effects_.database_jumps() ? NoteStream(offset) : NoteNewId(offset);
}

// Where a reader may begin.
void EffectLog::NoteAll() {
  if (paused_) return;
  NoteStream(effects_.offset());
  if (notes_ != nullptr) notes_->AppendAll(writer_->buffer());
}

absl::Status EffectLog::TurnOff() {
  if (absl::Status status = Close(); !status.ok()) return status;
  effects_.Detach(*this);
  writer_ = nullptr;
  files_.LogEnded();
  return absl::OkStatus();
}

absl::Status EffectLog::Close() {
  effects_.DeliverAll();
  return is_on() ? writer_->Close(clock_.steady_ms()) : absl::OkStatus();
}

void EffectLog::Pause() {
  effects_.Detach(*this);
  paused_ = true;
}

void EffectLog::Resume() {
  paused_ = false;
  if (!is_on()) return;
  effects_.Attach(*this);
  NoteAll();
}

void EffectLog::Receive(uint64_t offset, std::string_view effects) {
  NotePlace(offset);
  writer_->Append(effects);
  if (notes_ != nullptr) notes_->AppendChanged(writer_->buffer());
}

void EffectLog::ReceiveAndTake(uint64_t offset, std::string& effects) {
  NotePlace(offset);
  if (writer_->buffer().empty()) {
    writer_->buffer().swap(effects);
  } else {
    writer_->Append(effects);
  }
  if (notes_ != nullptr) notes_->AppendChanged(writer_->buffer());
}

absl::Status EffectLog::Flush() {
  effects_.Deliver();
  if (is_on()) NoteNewId(effects_.offset() - effects_.unfinished_bytes());
  if (!is_on() || writer_->pending_bytes() == 0) return absl::OkStatus();
  return writer_->Flush(clock_.steady_ms());
}

absl::Status EffectLog::FlushAll() {
  effects_.DeliverAll();
  return is_on() ? writer_->Flush(clock_.steady_ms()) : absl::OkStatus();
}

absl::Status EffectLog::ApplyPolicy() {
  if (!is_on()) return absl::OkStatus();
  return writer_->SetPolicy(config_.appendfsync, clock_.steady_ms());
}

const absl::Status& EffectLog::error() const { return is_on() ? writer_->error() : ok_; }

bool EffectLog::Recover(absl::FunctionRef<absl::Status()> replace) {
  const int64_t now_ms = clock_.steady_ms();
  if (now_ms - last_recovery_ms_ < kRecoveryIntervalMs) return false;
  last_recovery_ms_ = now_ms;
  if (lost()) return replace().ok();
  const uint64_t sequence = writer_->sequence();
  if (!writer_->TryRecover(now_ms).ok()) return false;
  // The writer may have gone on in a new log. The old one counts up to where the new one follows,
  // unless it was dropped because nothing in it was on disk.
  const LogPosition& previous = writer_->previous();
  if (writer_->sequence() != sequence && previous.sequence == sequence) {
    files_.LogFollowed(previous.offset);
  }
  return true;
}

// BeginSnapshot waits for a sync of the current log. That sync is short right after another one, so
// this waits until it has seen a sync run and end.
bool EffectLog::MayBeginSnapshot(int& syncs) {
  if (!is_on()) return true;
  if (writer_->policy() == FsyncPolicy::kNo) return writer_->SyncAhead(clock_.steady_ms(), syncs);
  if (writer_->unsynced_bytes() == 0) return true;
  const bool running = writer_->fsync_running();
  if (running) syncs = 1;
  return syncs > 0 && !running;
}

absl::StatusOr<EffectLog::Begin> EffectLog::BeginSnapshot(AofDirectory::NewLog& next) {
  const LogPosition header_of_next{next.sequence, 0, 0};
  // Other sinks too get what comes before the snapshot and what comes after it apart.
  effects_.DeliverAll();
  // A lost log is replaced after the snapshot.
  if (!is_on() || lost()) return Begin{header_of_next};
  // The snapshot holds the effects of the running turn, so the log must have them before it begins.
  if (absl::Status status = FlushAll(); !status.ok()) return status;
  effects_.ForgetDatabase();
  const int64_t now_ms = clock_.steady_ms();
  if (next.sequence == 0) {
    auto position = writer_->Mark(now_ms);
    if (!position.ok()) return position.status();
    NoteAll();
    return Begin{*position};
  }
  const uint64_t bytes = writer_->current_size();
  if (absl::Status status = writer_->SwitchTo(std::move(next), now_ms); !status.ok()) return status;
  files_.LogFollowed(bytes);
  NoteAll();
  return Begin{header_of_next, true};
}

}  // namespace tally::server
