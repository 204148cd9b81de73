#include "server/replication/frame_follower.h"

#include <vector>

#include "core/bytes/recycle.h"
#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "server/aof/log_format.h"
#include "server/command/command_table.h"
#include "server/effects/effect_stream.h"
#include "server/interfaces/command_runner.h"
#include "server/resp/reply_reader.h"
#include "server/state/client.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// Read bytes are dropped when they are more than this, and than what is left.
constexpr size_t kMostReadBytes = size_t{1} << 20;

}  // namespace

FrameFollower::FrameFollower(Services& server)
    : server_(server), reader_(server.effects.offset()), client_(std::make_unique<Client>()) {
  client_->authenticated = true;
}

FrameFollower::~FrameFollower() = default;

uint64_t FrameFollower::offset() const { return server_.effects.offset(); }

absl::StatusOr<bool> FrameFollower::Apply(int64_t budget_us) {
  const int64_t begin_us = Clock::MonotonicMicros();
  const Expiry expiry = server_.engine.expiry();
  server_.engine.set_expiry(Expiry::kIgnore);
  absl::StatusOr<bool> more = true;
  do {
    more = ApplyNext();
  } while (more.ok() && *more && Clock::MonotonicMicros() - begin_us < budget_us);
  server_.engine.set_expiry(expiry);
  if (begin_ == buffer_.size()) {
    Recycle(buffer_, kMostReadBytes);
    begin_ = 0;
  } else if (begin_ > kMostReadBytes && begin_ > buffer_.size() / 2) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  return more;
}

absl::StatusOr<bool> FrameFollower::ApplyNext() {
  const std::string_view bytes = std::string_view(buffer_).substr(begin_);
  StreamFrame frame;
  size_t consumed = 0;
  switch (reader_.Next(bytes, frame, consumed)) {
    case FrameReader::Status::kNeedMore:
      return false;
    case FrameReader::Status::kError:
      return absl::DataLossError(reader_.error());
    case FrameReader::Status::kFrame:
      break;
  }
  // A frame without effects asks how far this server has come.
  if (frame.effects.empty()) {
    ack_wanted_ = true;
  } else {
    const bool messages = frame.database == kMessages;
    const absl::Status status = messages ? RunCommands(frame.effects) : RunEffects(frame);
    if (!status.ok()) return status;
  }
  begin_ += consumed;
  return true;
}

absl::Status FrameFollower::RunEffects(const StreamFrame& frame) {
  if (frame.database >= server_.engine.databases()) {
    return absl::FailedPreconditionError(
        StrCat("database ", frame.database, " of the primary is not here (see databases)"));
  }
  client_->database = frame.database;
  if (absl::Status status = RunCommands(frame.effects); !status.ok()) return status;
  server_.effects.AppendReceived(frame.effects, frame.database, client_->database);
  return absl::OkStatus();
}

// The checksum is right, so that an error means that the data here is not the primary's.
absl::Status FrameFollower::RunCommands(std::string_view commands) {
  std::vector<std::string_view> args;
  while (!commands.empty()) {
    size_t size = 0;
    if (ScanCommand(commands, size, args) != ScanResult::kCommand) {
      return absl::AbortedError("a frame of the primary holds what is no command");
    }
    commands.remove_prefix(size);
    const CommandEntry* entry = server_.commands.FindFullName(args[0]);
    const bool known = entry != nullptr && entry->command->handler != nullptr &&
                       ArityFits(*entry->command, args.size());
    if (!known) return absl::AbortedError(StrCat("an effect that is not known here: ", args[0]));
    client_->output.Clear();
    server_.runner->Replay(*client_, *entry, args);
    if (IsError(client_->output, 0)) {
      return absl::AbortedError(
          StrCat("an effect that fails here: ", args[0], ": ", client_->output.Joined()));
    }
  }
  return absl::OkStatus();
}

}  // namespace tally::server
