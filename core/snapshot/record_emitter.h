// Writes keys and policies as records to a sink, and keeps the sink's bound: a value is written in
// runs, and a record that is too long all the same is split into pieces.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/keyspace/keyspace.h"
#include "core/limit/policy_table.h"
#include "core/snapshot/record_codec.h"
#include "core/snapshot/record_sink.h"

namespace tally {

class RecordEmitter {
 public:
  static constexpr size_t kRunBytes = size_t{64} << 10;

  // A run of a value has about `run_bytes`.
  explicit RecordEmitter(RecordSink& sink, size_t run_bytes = kRunBytes);

  // All of these return the sink's error.
  // About how many keys of the database follow, for whoever loads them to be prepared.
  absl::Status KeyCount(size_t database, uint64_t keys);
  absl::Status Policies(const PolicyTable& policies);
  // The key with its whole value. O(bytes).
  absl::Status Entry(size_t database, const Keyspace::Entry& entry);

  // For a heap value that is saved in slices: begins the record of its first run, or of a further
  // one, or of several further ones, which are appended with their lengths. The caller appends to
  // record() and calls End().
  void BeginFirstRun(const ValueHead& head) { tally::BeginFirstRun(head, record_); }
  void BeginFurtherRun(const ValueHead& head) { tally::BeginFurtherRun(head, record_); }
  void BeginManyRuns(const ValueHead& head) { tally::BeginManyRuns(head, record_); }
  std::string& record() { return record_; }
  absl::Status End();

  // What a run has at least, if there is that much: each record of a run repeats the key, and those
  // of a key of many megabytes must not make a snapshot many times as large as the data.
  size_t RunBytesFor(std::string_view key) const;
  size_t run_bytes() const { return run_bytes_; }

  // A record of any size that is there already; it is not empty.
  absl::Status Append(std::string_view record);

 private:
  RecordSink& sink_;
  size_t run_bytes_;
  size_t max_part_bytes_;
  std::string record_;  // reused memory
};

}  // namespace tally
