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

namespace tally {

class RecordEmitter {
 public:
  // `sink` must outlive the emitter. A run of a value has about `run_bytes` bytes.
  explicit RecordEmitter(RecordSink& sink, size_t run_bytes = kRunBytes);

  // The next three write records and return the sink's first error. KeyCount says about how many
  // keys of the database follow, so that the loader can reserve space for them.
  absl::Status KeyCount(size_t database, uint64_t keys);
  absl::Status Policies(const PolicyTable& policies);
  // Writes the key with its whole value. O(bytes).
  absl::Status Entry(size_t database, const Keyspace::Entry& entry);

  // For a heap value that is saved in slices: these begin the record of its first run, of a further
  // run, or of several further runs. The caller then appends the run (or each of the several runs
  // with its length before it) to record() and calls End(), which writes the record to the sink.
  void BeginFirstRun(const ValueHead& head) { tally::BeginFirstRun(head, record_); }
  void BeginFurtherRun(const ValueHead& head) { tally::BeginFurtherRun(head, record_); }
  void BeginManyRuns(const ValueHead& head) { tally::BeginManyRuns(head, record_); }
  std::string& record() { return record_; }
  absl::Status End();

  // The fewest bytes of a run of this key, if the value has that many left: max(run_bytes, key
  // size). Each run's record repeats the key. If runs were short, a key of many megabytes would
  // make the snapshot many times as large as the data.
  size_t RunBytesFor(std::string_view key) const;
  size_t run_bytes() const { return run_bytes_; }

  // From now on a record of more than kHeldBytes is not written at once. It is held in memory, and
  // so are the records that come after it, until WriteHeld() has written them.
  void HoldLargeRecords() { holds_ = true; }
  bool has_held() const { return !held_.empty(); }
  // Writes about kHeldBytes of what is held; requires has_held().
  absl::Status WriteHeld();
  static constexpr size_t kHeldBytes = size_t{1} << 20;

  // Writes an encoded record of any size; it must not be empty.
  absl::Status Append(std::string_view record);

 private:
  RecordSink& sink_;
  size_t run_bytes_;
  size_t max_part_bytes_;
  std::string record_;  // reused memory
  bool holds_ = false;
  std::deque<std::string> held_;
  size_t held_written_ = 0;  // bytes of the first held record that are written
};

}  // namespace tally
