#include "server/replication/stream_follower.h"

#include "core/bytes/str_cat.h"
#include "core/words/word.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// The clock is asked once for so many commands.
constexpr int kCommandsTogether = 16;

RedisReplay::Options ReplayOptions(const Config& config) {
  const bool stops = config.replica_unknown_command == UnknownCommand::kStop;
  return {.drop_field_deadlines = !stops, .follows = true, .is_strict = stops};
}

}  // namespace

StreamFollower::StreamFollower(const Parts& parts, const UpstreamPosition& from)
    : parts_(parts),
      position_(from),
      read_offset_(from.offset),
      reader_(static_cast<size_t>(parts.config.client_query_buffer_limit)),
      replay_(parts.commands, parts.runner, skipped_, ReplayOptions(parts.config)) {
  replay_.Select(from.database);
}

absl::StatusOr<bool> StreamFollower::Apply(int64_t budget_us) {
  const int64_t begin_us = Clock::MonotonicMicros();
  replay_.set_options(ReplayOptions(parts_.config));
  // The primary says when keys end.
  const Expiry expiry = parts_.engine.expiry();
  parts_.engine.set_expiry(Expiry::kIgnore);
  absl::StatusOr<bool> more = true;
  do {
    for (int i = 0; i < kCommandsTogether && more.ok() && *more; ++i) {
      more = reader_.Next();
      if (!more.ok() || !*more) break;
      if (absl::Status status = ApplyOne(); !status.ok()) more = status;
    }
  } while (more.ok() && *more && Clock::MonotonicMicros() - begin_us < budget_us);
  parts_.engine.set_expiry(expiry);
  if (!skipped_.empty()) ReportSkipped();
  return more;
}

// The part of a transaction that has come is in nobody's data yet: if the link breaks, all of it
// comes again.
absl::Status StreamFollower::ApplyOne() {
  const Args args = reader_.args();
  if (IsWord(args[0], "replconf")) {
    ack_wanted_ |= args.size() > 1 && IsWord(args[1], "getack");
  } else if (absl::Status status = replay_.Take(args); !status.ok()) {
    return status;
  }
  read_offset_ += reader_.size();
  if (replay_.in_transaction()) return absl::OkStatus();
  position_.offset = read_offset_;
  position_.database = replay_.database();
  return absl::OkStatus();
}

void StreamFollower::ReportSkipped() {
  skipped_.ForEachLine([&](std::string_view line) {
    parts_.log.Warning("Left out of what the primary sends: ", line);
  });
  skipped_ = {};
}

}  // namespace tally::server
