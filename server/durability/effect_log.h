// The append-only log. While it is on, it takes the effects of commands and writes them once a
// turn, as appendfsync says.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "server/aof/aof_directory.h"
#include "server/aof/log_writer.h"
#include "server/config/config.h"
#include "server/durability/data_files.h"
#include "server/durability/log_notes.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/state/clock.h"

namespace tally::server {

class EffectLog : private EffectSink {
 public:
  EffectLog(const Config& config, const Clock& clock, EffectStream& effects, DataFiles& files);
  ~EffectLog();
  EffectLog(const EffectLog&) = delete;
  EffectLog& operator=(const EffectLog&) = delete;

  // The log says where it is in the stream, and of which history. `id` must outlive it.
  void set_stream_id(const StreamId& id) { id_ = &id; }

  // Turns the log on: it takes effects from now on and writes them after `end`; see
  // LogWriter::Open. If it was on before, the old writer is dropped.
  absl::Status Open(const LogPosition& end, uint64_t synced);
  // Null while the log is off.
  const LogWriter* writer() const { return writer_.get(); }
  bool is_on() const { return writer_ != nullptr; }
  // Writes and syncs the effects so far, then turns the log off.
  absl::Status TurnOff();
  // Writes and syncs the effects so far, when the server ends. The log stays on.
  absl::Status Close();

  // Whose notes the log has beside the effects; null: it has none.
  void set_notes(LogNotes* notes) { notes_ = notes; }

  // The log takes no effects, and no notes, until Resume. Effects that come from loading must not
  // be logged again.
  void Pause();
  void Resume();

  // Writes the effects that come before an unfinished block (see EffectStream::Block). Until this
  // returns OK, nothing of them may be acknowledged.
  absl::Status Flush();
  // The same, with what the unfinished block has so far.
  absl::Status FlushAll();
  // For CONFIG SET appendfsync.
  absl::Status ApplyPolicy();

  // OK, or why nothing can be acknowledged. OK while the log is off.
  const absl::Status& error() const;
  // Whether logged bytes are lost, so that only a new base, and a log after it, can replace them.
  bool lost() const { return is_on() && writer_->lost(); }
  // To be called while error() is not OK: tries, at most once a second, to make the log work again.
  // If the log is lost, it calls `replace`, which must open another log. Returns true on success.
  bool Recover(absl::FunctionRef<absl::Status()> replace);

  // The rest of the interface is for rewrites.
  // The current log's sequence; 0 while the log is off.
  uint64_t sequence() const { return is_on() ? writer_->sequence() : 0; }
  // Whether the current log was begun by a rewrite that failed. The next rewrite then begins within
  // this log, so that failures do not each add a log.
  bool awaits_base() const { return awaits_base_ && is_on() && !lost(); }
  void set_awaits_base(bool awaits) { awaits_base_ = awaits; }
  // The history of the stream of effects, and its bytes so far, logged or not.
  std::string stream_id() const { return id_ == nullptr ? StreamId::None() : id_->id(); }
  uint64_t stream_offset() const { return effects_.offset(); }
  // Whether BeginSnapshot would not wait long for the disk; with appendfsync no it starts the syncs
  // for that. `syncs` must be 0 at the first call; the caller keeps it from call to call.
  bool MayBeginSnapshot(int& syncs);
  // Where the logs continue a snapshot of the present state. With sequence 0 in `next` that is the
  // end of the current log. Otherwise it is the start of `next`, and the log goes on in `next`,
  // unless it is off or lost.
  struct Begin {
    LogPosition position;
    bool in_next = false;  // the log now writes to `next`
  };
  absl::StatusOr<Begin> BeginSnapshot(AofDirectory::NewLog& next);

 private:
  // Says where in the stream the next effect is; nothing if the stream has no id.
  void NoteStream(uint64_t offset);
  // The same if the id has changed since.
  void NoteNewId(uint64_t offset);
  // The same before effects whose place a reader would not know.
  void NotePlace(uint64_t offset);

  // EffectSink.
  void Receive(uint64_t offset, std::string_view effects) override;
  void ReceiveAndTake(uint64_t offset, std::string& effects) override;
  void NoteAll();

  const Config& config_;
  const Clock& clock_;
  EffectStream& effects_;
  DataFiles& files_;
  std::unique_ptr<LogWriter> writer_;
  const StreamId* id_ = nullptr;
  std::string noted_id_;
  const absl::Status ok_;
  bool awaits_base_ = false;
  bool paused_ = false;
  LogNotes* notes_ = nullptr;
  int64_t last_recovery_ms_ = 0;
};

}  // namespace tally::server
