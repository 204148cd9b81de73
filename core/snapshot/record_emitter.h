// Writes keys and policies as records to a sink and keeps within the sink's bound: a value is
// written in runs, and a record that is still too long is split into pieces.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "core/bytes/run_sink.h"
#include "core/keyspace/keyspace.h"
#include "core/limit/policy_table.h"
#include "core/snapshot/record_codec.h"
#include "core/snapshot/record_sink.h"
#include "core/snapshot/snapshot_emitter.h"

namespace tally {

class RecordEmitter final : public SnapshotEmitter {
 public:
  // `sink` must outlive the emitter. A run of a value has about `run_bytes` bytes.
  explicit RecordEmitter(RecordSink& sink, size_t run_bytes = kRunBytes);

  // Says about how many keys follow, so that the loader can reserve space for them.
  absl::Status Database(size_t database, const Keyspace& keyspace) override;
  absl::Status Policies(const PolicyTable& policies) override;
  absl::Status Entry(size_t database, const Keyspace::Entry& entry) override;

  // Each run, or several runs together, is a record.
  std::string& BeginFirstRun(const ValueHead& head) override;
  std::string& BeginFurtherRun(const ValueHead& head) override;
  std::string& BeginManyRuns(const ValueHead& head) override;
  absl::Status EndRun(const ValueHead& head) override;
  absl::Status EndValue(const ValueHead&) override { return absl::OkStatus(); }
  absl::Status Turn(const ValueHead&) override { return absl::OkStatus(); }

  // max(run_bytes, key size). Each run's record repeats the key. If runs were short, a key of many
  // megabytes would make the snapshot many times as large as the data.
  size_t RunBytesFor(std::string_view key) const override;
  size_t run_bytes() const override { return run_bytes_; }

  // From now on a record of more than kHeldBytes is not written at once. It is held in memory, and
  // so are the records that come after it, until WriteHeld() has written them.
  void HoldLargeRecords() { holds_ = true; }
  bool has_held() const override { return !held_.empty(); }
  // Writes about kHeldBytes of what is held; requires has_held().
  absl::Status WriteHeld() override;
  static constexpr size_t kHeldBytes = size_t{1} << 20;

  // Writes an encoded record of any size; it must not be empty.
  absl::Status Append(std::string_view record);

 private:
  absl::Status End();

  RecordSink& sink_;
  size_t run_bytes_;
  size_t max_part_bytes_;
  std::string record_;  // reused memory
  bool holds_ = false;
  std::deque<std::string> held_;
  size_t held_written_ = 0;  // bytes of the first held record that are written
};

}  // namespace tally
