// Applies the stream of a primary: takes its bytes as they come, runs the commands, and knows at
// each moment which of them are in the data.
#pragma once

#include <absl/status/statusor.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/engine/engine.h"
#include "server/command/command_table.h"
#include "server/config/config.h"
#include "server/durability/redis_replay.h"
#include "server/interfaces/command_runner.h"
#include "server/log/log.h"
#include "server/rdb/skipped_values.h"
#include "server/replication/redis_stream_reader.h"
#include "server/replication/upstream_position.h"

namespace tally::server {

class StreamFollower {
 public:
  struct Parts {
    Engine& engine;
    const CommandTable& commands;
    CommandRunner& runner;
    const Config& config;
    const Logger& log;
  };
  // The stream goes on where `from` says.
  StreamFollower(const Parts& parts, const UpstreamPosition& from);

  void Take(std::string_view bytes) { reader_.Take(bytes); }
  // Applies what is there, for about `budget_us`. Returns whether more of it is left. After an
  // error the position is still right, except after Aborted: then the data is no longer that of any
  // position.
  absl::StatusOr<bool> Apply(int64_t budget_us);

  // What is in the data: commands and whole transactions.
  const UpstreamPosition& position() const { return position_; }
  // The bytes of the stream that have been run, or belong to a transaction that is not complete.
  uint64_t read_offset() const { return read_offset_; }
  // Whether the primary has asked for an acknowledgement since the last call.
  bool TakeAckRequest() { return std::exchange(ack_wanted_, false); }
  // How many commands were left out.
  uint64_t skipped() const { return replay_.skipped(); }

 private:
  absl::Status ApplyOne();
  void ReportSkipped();

  const Parts parts_;
  UpstreamPosition position_;
  uint64_t read_offset_;
  RedisStreamReader reader_;
  rdb::SkippedValues skipped_;
  RedisReplay replay_;
  bool ack_wanted_ = false;
};

}  // namespace tally::server
