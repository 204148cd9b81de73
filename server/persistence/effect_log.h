// The append-only log while it is on: takes the effects of commands and writes them once a turn, as
// appendfsync says.
#pragma once

#include <absl/functional/function_ref.h>
#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "server/aof/aof_directory.h"
#include "server/aof/log_writer.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/persistence/data_files.h"
#include "server/state/clock.h"

namespace tally::server {

class EffectLog : private EffectSink {
 public:
  EffectLog(const Config& config, const Clock& clock, EffectStream& effects, DataFiles& files);
  ~EffectLog();
  EffectLog(const EffectLog&) = delete;
  EffectLog& operator=(const EffectLog&) = delete;

  // Takes effects from now on, and writes them after `end`; see LogWriter::Open. A log that was
  // written before is given up.
  absl::Status Open(const LogPosition& end, uint64_t synced);
  // Null while the log is off.
  const LogWriter* writer() const { return writer_.get(); }
  bool is_on() const { return writer_ != nullptr; }
  // Writes and syncs what there is, and takes no more.
  absl::Status TurnOff();
  // The same when the server ends.
  absl::Status Close();

  // Takes no effects until Resume, such as those of loading.
  void Pause() { effects_.Detach(*this); }
  void Resume();

  // Writes what was done before the block of effects that has not ended. Until this is OK, nothing
  // of it may be acknowledged.
  absl::Status Flush();
  // The same with what there is of that block.
  absl::Status FlushAll();
  // CONFIG SET appendfsync.
  absl::Status ApplyPolicy();

  // OK, or why nothing can be acknowledged. OK while the log is off.
  const absl::Status& error() const;
  // What was lost can only be replaced: by a new base, and a log after it.
  bool lost() const { return is_on() && writer_->lost(); }
  // With an error(), about once a second: tries to get back to where writes are acknowledged. Calls
  // `replace`, which is to open another log, if the log is lost. True if it has succeeded.
  bool Recover(absl::FunctionRef<absl::Status()> replace);

  // What a rewrite asks for.
  // The current log; 0 while the log is off.
  uint64_t sequence() const { return is_on() ? writer_->sequence() : 0; }
  // The current log was begun by a rewrite that failed. The next one begins within it, so that the
  // logs do not become more with each failure.
  bool awaits_base() const { return awaits_base_ && is_on() && !lost(); }
  void set_awaits_base(bool awaits) { awaits_base_ = awaits; }
  // Whether BeginSnapshot need not wait long for the disk. `seen_sync` is false at first, and is
  // kept from call to call.
  bool MayBeginSnapshot(bool& seen_sync) const;
  // Where the logs continue a snapshot of what is now: at the start of `next`, in which the log
  // goes on if it is on, or within the current one if `next` has the sequence 0.
  struct Begin {
    LogPosition position;
    bool in_next = false;  // the log has gone on in `next`
  };
  absl::StatusOr<Begin> BeginSnapshot(AofDirectory::NewLog& next);

 private:
  // EffectSink.
  void Receive(uint64_t offset, std::string_view effects) override;
  void ReceiveAndTake(uint64_t offset, std::string& effects) override;

  const Config& config_;
  const Clock& clock_;
  EffectStream& effects_;
  DataFiles& files_;
  std::unique_ptr<LogWriter> writer_;
  bool awaits_base_ = false;
  int64_t last_recovery_ms_ = 0;
};

}  // namespace tally::server
