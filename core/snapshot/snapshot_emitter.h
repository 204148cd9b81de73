// What a snapshot walk writes to: the format of the snapshot. A format gets keys with their whole
// values, and large values in runs. Between the runs of a value there may be keys, and runs of
// other values.
#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "core/keyspace/keyspace.h"
#include "core/limit/policy_table.h"
#include "core/snapshot/value_head.h"

namespace tally {

// All return the first error of what they write to.
class SnapshotEmitter {
 public:
  // The database, which is not empty, follows: it has the keys of `keyspace` as they are now.
  virtual absl::Status Database(size_t database, const Keyspace& keyspace) = 0;
  virtual absl::Status Policies(const PolicyTable& policies) = 0;
  // Writes the key with its whole value. O(bytes).
  virtual absl::Status Entry(size_t database, const Keyspace::Entry& entry) = 0;

  // A value in runs: Begin… returns the memory to which the caller appends the run (or each of
  // several runs, with its length before it), and EndRun writes it. After the last run comes
  // EndValue. The head stays where it is until then.
  virtual std::string& BeginFirstRun(const ValueHead& head) = 0;
  virtual std::string& BeginFurtherRun(const ValueHead& head) = 0;
  virtual std::string& BeginManyRuns(const ValueHead& head) = 0;
  virtual absl::Status EndRun(const ValueHead& head) = 0;
  virtual absl::Status EndValue(const ValueHead& head) = 0;
  // From now on mostly runs of this value come, until its end.
  virtual absl::Status Turn(const ValueHead& head) = 0;

  // The fewest bytes of a run of this key, if the value has that many left: run_bytes() or more.
  // Several runs come together if this is more than run_bytes().
  virtual size_t RunBytesFor(std::string_view key) const = 0;
  virtual size_t run_bytes() const = 0;

  // Whether something waits to be written by WriteHeld, because it would have taken too long to
  // write it at once. WriteHeld writes a part of it.
  virtual bool has_held() const = 0;
  virtual absl::Status WriteHeld() = 0;

 protected:
  ~SnapshotEmitter() = default;
};

}  // namespace tally
