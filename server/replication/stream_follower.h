// Applies the stream of a primary that is a Redis or Valkey: runs its commands, whose effects are
// those of this server.
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
#include "server/replication/primary_stream.h"
#include "server/replication/redis_stream_reader.h"
#include "server/replication/upstream_position.h"

namespace tally::server {

class StreamFollower final : public PrimaryStream {
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

  void Take(std::string_view bytes) override { reader_.Take(bytes); }
  // Errors beside Aborted: Unimplemented for a command that is not known here, if
  // replica-unknown-command says so.
  absl::StatusOr<bool> Apply(int64_t budget_us) override;

  // What is in the data: commands and whole transactions.
  const UpstreamPosition& position() const { return position_; }
  uint64_t offset() const override { return position_.offset; }
  uint64_t read_offset() const override { return read_offset_; }
  bool TakeAckRequest() override { return std::exchange(ack_wanted_, false); }
  uint64_t skipped() const override { return replay_.skipped(); }

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
