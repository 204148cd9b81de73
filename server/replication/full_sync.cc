#include "server/replication/full_sync.h"

#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/interfaces/command_runner.h"
#include "server/interfaces/replication.h"
#include "server/log/log.h"
#include "server/state/clock.h"
#include "server/state/key_tracking.h"
#include "server/state/watch_list.h"

namespace tally::server {

FullSync::FullSync(const Parts& parts)
    : parts_(parts),
      server_(parts.server),
      file_({server_.engine, server_.commands, *server_.runner, server_.config, parts.files}) {}

absl::Status FullSync::Begin(const PrimaryHandshake::From& from) {
  from_ = from;
  receiver_ = {};
  if (absl::Status status = file_.Create(); !status.ok()) return status;
  server_.log.Notice("A full sync begins: the primary sends its data up to offset ", from.offset);
  return absl::OkStatus();
}

absl::StatusOr<bool> FullSync::Receive(std::string& bytes) {
  const auto taken =
      receiver_.Take(bytes, [this](std::string_view payload) { return file_.Write(payload); });
  if (!taken.ok()) return taken.status();
  bytes.erase(0, *taken);
  return receiver_.done();
}

MoveOptions FullSync::LoadOptions() const {
  const bool skips = server_.config.replica_unknown_command == UnknownCommand::kSkip;
  return {.skip_unknown = skips,
          .drop_field_deadlines = skips,
          .keep_expired = true,
          .import_path = {}};
}

absl::Status FullSync::BeginCheck() { return file_.BeginCheck(LoadOptions()); }

absl::StatusOr<bool> FullSync::Check(int64_t budget_us) { return file_.Check(budget_us); }

absl::Status FullSync::BeginLoading() {
  TouchAllKeys();
  absl::Status status = parts_.persistence.BeginReplacing(PayloadFile::Path(), LoadOptions());
  if (status.ok()) BeginHistory();
  return status;
}

void FullSync::TouchAllKeys() {
  for (size_t i = 0; i < server_.engine.databases(); ++i) {
    server_.watches.TouchAll(i, server_.engine.database(i), nullptr, server_.clock.now_ms());
  }
  server_.tracking.AllChanged();
}

// The stream of this server is that of the tallyd which has sent its data, or a new one that begins
// with the data of a Redis.
void FullSync::BeginHistory() {
  if (file_.is_base()) {
    parts_.position.Set({});
    server_.effects.set_offset(from_.offset);
    server_.stream_id.Adopt(from_.replid);
  } else {
    parts_.position.Set({from_.replid, from_.offset, 0});
    server_.stream_id.Adopt(parts_.new_id());
  }
  server_.replicas->StreamReplaced();
}

absl::Status FullSync::EndLoading() {
  file_.Remove();
  server_.replicas->StreamReplaced();
  const absl::Status& result = parts_.persistence.replaced();
  if (result.ok()) {
    server_.log.Notice("The data of the primary is loaded");
  } else {
    // The log of the old data may not say what it is.
    parts_.position.Lose();
    server_.stream_id.Adopt(parts_.new_id());
  }
  return result;
}

}  // namespace tally::server
