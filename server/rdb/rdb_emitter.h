// Writes a snapshot as an RDB of version 10, which every Redis from 7.0 and every Valkey loads.
//
// In an RDB a value is one piece, and comes with the number of its elements. So while a value is
// written in runs, what comes between is held in memory: keys, and runs of values whose turn has
// not come, which are saved because they are about to change.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/status/status.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "core/engine/engine.h"
#include "core/snapshot/snapshot_emitter.h"
#include "server/rdb/rdb_output.h"

namespace tally::rdb {

struct RdbOptions {
  std::string_view version;         // the one of Redis that the file names
  int64_t now_ms = 0;               // the instant that it gives as its own, in unix ms
  size_t compress_most = SIZE_MAX;  // strings of up to this many bytes are compressed; 0: none
};

// Compressing a longer string takes too long for a step.
inline constexpr size_t kCompressedInSlices = size_t{128} << 10;

class RdbEmitter final : public SnapshotEmitter {
 public:
  // Begins the file. Both must outlive the emitter.
  RdbEmitter(Engine& engine, const RdbOptions& options, ByteTarget& target);
  RdbEmitter(const RdbEmitter&) = delete;
  RdbEmitter& operator=(const RdbEmitter&) = delete;

  // Ends the file; nothing may be held.
  absl::Status Finish();

  absl::Status Database(size_t database, const Keyspace& keyspace) override;
  absl::Status Policies(const PolicyTable& policies) override;
  absl::Status Entry(size_t database, const Keyspace::Entry& entry) override;
  std::string& BeginFirstRun(const ValueHead& head) override;
  std::string& BeginFurtherRun(const ValueHead& head) override;
  std::string& BeginManyRuns(const ValueHead& head) override;
  absl::Status EndRun(const ValueHead& head) override;
  absl::Status EndValue(const ValueHead& head) override;
  absl::Status Turn(const ValueHead& head) override;
  size_t RunBytesFor(std::string_view) const override { return run_bytes(); }
  size_t run_bytes() const override;
  bool has_held() const override { return !ready_.empty(); }
  absl::Status WriteHeld() override;

 private:
  // Parts of a file, each of whole strings. A part of keys begins with its database.
  using Chunks = std::deque<std::string>;

  // A value of which something has come and the end has not.
  struct OpenValue {
    Chunks waiting;                         // until its turn comes
    std::optional<std::string> last_run{};  // of our own types: not written before it is known
                                            // whether it is the last
  };

  void WriteAux(std::string_view name, std::string_view value);
  void Select(size_t database);
  void WriteHead(const ValueHead& head, RdbOutput& output);
  // Whether what comes can be written at once.
  bool MayWrite(const ValueHead& head) const { return current_ == &head && ready_.empty(); }
  // Has `write` write a part of an open value, where it belongs.
  template <typename Write>
  void WritePart(const ValueHead& head, OpenValue& value, Write&& write);
  void WriteRun(const ValueHead& head, std::string_view run, bool is_last, RdbOutput& output);
  // Appends what scratch_ has to these parts, and empties it.
  void Keep(Chunks& parts);

  Engine& engine_;
  RdbOutput output_;
  RdbOutput scratch_;
  std::string run_;                     // reused memory
  std::optional<size_t> selected_;      // the database of what is written next to output_
  const ValueHead* current_ = nullptr;  // the value whose turn it is, of which nothing waits
  absl::flat_hash_map<const ValueHead*, OpenValue> open_;
  Chunks ready_;  // may be written now: of the current value, or of whole keys
  Chunks aside_;  // whole keys that wait until the current value has ended
};

}  // namespace tally::rdb
