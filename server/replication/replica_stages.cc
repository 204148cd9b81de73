// What a replica does in each stage of its link, from the first connection to the stream.
#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/interfaces/command_runner.h"
#include "server/log/log.h"
#include "server/net/tls/tls_context.h"
#include "server/replication/frame_follower.h"
#include "server/replication/replica.h"
#include "server/replication/stream_follower.h"
#include "server/resp/resp_command.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr size_t kMostLineBytes = 4096;

}  // namespace

void Replica::Serve() {
  switch (stage_) {
    case Stage::kPause:
      return;
    case Stage::kConnecting: {
      const absl::Status status = socket_.Continue();
      if (!status.ok()) return Drop(status, Next::kSoon);
      if (socket_.state() == PeerSocket::State::kConnected) BeginHandshake();
      return;
    }
    case Stage::kHandshake:
      return Shake();
    case Stage::kReceiving:
      return Receive();
    case Stage::kChecking:
      return Check();
    case Stage::kLoading:
      return FinishLoading();
    case Stage::kStream:
      return FollowStream();
  }
}

void Replica::Connect() {
  std::unique_ptr<TlsContext> tls;
  if (server_.config.tls_replication) {
    auto made = TlsContext::CreateForPeers(server_.config);
    if (!made.ok()) return Drop(made.status(), Next::kGrowing);
    tls = std::move(*made);
  }
  server_.replicas->StartBacklog();
  last_io_ms_ = server_.clock.steady_ms();
  stage_ = Stage::kConnecting;
  socket_.Open(server_.config.replicaof_host, server_.config.replicaof_port, std::move(tls));
  Serve();
}

void Replica::BeginHandshake() {
  const Config& config = server_.config;
  PrimaryHandshake::Request request;
  request.user = config.masteruser;
  request.password = config.masterauth;
  request.listening_port = config.replica_announce_port != 0 ? config.replica_announce_port
                           : config.tls_replication          ? config.tls_port
                                                             : config.port;
  request.announced_ip = config.replica_announce_ip;
  request.from = position_.End();
  request.earlier = position_.EarlierEnd();
  request.hands_over = hands_over_ != HandingOver::kNo;
  request.by_force = by_force_;
  handshake_.emplace(request);
  last_io_ms_ = server_.clock.steady_ms();
  stage_ = Stage::kHandshake;
  socket_.Send(handshake_->First());
  Shake();
}

bool Replica::ReadSome(std::string_view& bytes) {
  const Stream::Received received = socket_.Read(buffer_);
  if (received.ended) {
    Drop(absl::UnavailableError("the primary has closed the link"),
         stage_ == Stage::kStream ? Next::kAtOnce : Next::kSoon);
    return false;
  }
  if (received.bytes > 0) last_io_ms_ = server_.clock.steady_ms();
  bytes = {buffer_.data(), received.bytes};
  return received.bytes > 0;
}

void Replica::Shake() {
  std::string_view bytes;
  if (!socket_.Flush()) {
    return Drop(absl::UnavailableError("the link to the primary is broken"), Next::kSoon);
  }
  if (!ReadSome(bytes)) return;
  received_ += bytes;
  const auto answer = TakeLines();
  if (!answer.ok()) {
    return Drop(answer.status(),
                absl::IsUnavailable(answer.status()) ? Next::kSoon : Next::kGrowing);
  }
  if (*answer == PrimaryHandshake::Answer::kNotYet) {
    if (received_.size() > kMostLineBytes) {
      Drop(absl::DataLossError("the primary answers with a line without end"), Next::kGrowing);
    }
    return;
  }
  const PrimaryHandshake::From from = handshake_->from();
  handshake_.reset();
  EndHandover(true);
  if (*answer == PrimaryHandshake::Answer::kContinue) {
    ++partial_syncs_;
    server_.log.Notice("The stream of the primary goes on at offset ", from.offset);
    if (position_.upstream().known()) {
      position_.Set({from.replid, from.offset, position_.upstream().database});
    } else if (from.replid != server_.stream_id.id()) {
      server_.stream_id.Follow(from.replid, from.offset);
      server_.replicas->DisconnectAll(kNewHistory);
    }
    return BeginStream();
  }
  if (absl::Status status = full_sync_.Begin(from); !status.ok()) {
    return Drop(status, Next::kGrowing);
  }
  stage_ = Stage::kReceiving;
  Receive();
}

absl::StatusOr<PrimaryHandshake::Answer> Replica::TakeLines() {
  PrimaryHandshake::Answer answer = PrimaryHandshake::Answer::kNotYet;
  size_t end = 0;
  while (answer == PrimaryHandshake::Answer::kNotYet &&
         (end = received_.find('\n')) != std::string::npos) {
    if (LeadsToItself()) {
      return absl::FailedPreconditionError("the primary is this server itself");
    }
    std::string line = received_.substr(0, end);
    received_.erase(0, end + 1);
    if (line.ends_with('\r')) line.pop_back();
    std::string request;
    const auto judged = handshake_->Take(line, request);
    if (!judged.ok()) return judged;
    answer = *judged;
    socket_.Send(request);
  }
  if (!socket_.Flush()) return absl::UnavailableError("the link to the primary is broken");
  return answer;
}

bool Replica::LeadsToItself() const {
  const std::string own_end = socket_.LocalAddress();
  bool found = false;
  server_.clients.ForEach([&](const Client& client) { found |= client.address == own_end; });
  return found;
}

void Replica::Receive() {
  const int64_t begin_us = Clock::MonotonicMicros();
  absl::StatusOr<bool> done = false;
  do {
    std::string_view bytes;
    if (received_.empty()) {
      if (!ReadSome(bytes)) return;
      received_ = bytes;
    }
    done = full_sync_.Receive(received_);
    if (!done.ok()) return Drop(done.status(), Next::kGrowing);
  } while (!*done && Clock::MonotonicMicros() - begin_us < parts_.slice_us);
  if (!*done) return;
  // The primary waits for a sign of life before it sends the stream.
  stage_ = Stage::kChecking;
  Acknowledge();
  if (absl::Status status = full_sync_.BeginCheck(); !status.ok()) Drop(status, Next::kGrowing);
}

void Replica::Check() {
  const auto checked = full_sync_.Check(parts_.slice_us);
  if (!checked.ok()) return Drop(checked.status(), Next::kGrowing);
  if (!*checked) return;
  if (absl::Status status = full_sync_.BeginLoading(); !status.ok()) {
    return Drop(status, Next::kGrowing);
  }
  stage_ = Stage::kLoading;
}

void Replica::FinishLoading() {
  if (full_sync_.is_loading()) return;
  stage_ = Stage::kPause;
  const absl::Status result = full_sync_.EndLoading();
  if (result.ok()) ++full_syncs_;
  if (becomes_primary_) return StopFollowing();
  if (!result.ok()) return Drop(result, Next::kGrowing);
  if (socket_.state() == PeerSocket::State::kConnected) BeginStream();
}

void Replica::BeginStream() {
  if (position_.upstream().known()) {
    auto redis = std::make_unique<StreamFollower>(
        StreamFollower::Parts{server_.engine, server_.commands, *server_.runner, server_.config,
                              server_.log},
        position_.upstream());
    redis_ = redis.get();
    stream_ = std::move(redis);
  } else {
    stream_ = std::make_unique<FrameFollower>(server_);
  }
  stream_->Take(std::exchange(received_, {}));
  more_to_apply_ = true;
  stage_ = Stage::kStream;
  server_.role.link_up = true;
  up_since_ms_ = last_io_ms_ = server_.clock.steady_ms();
  down_since_ms_ = -1;
  last_error_.clear();
  Acknowledge();
}

// Nothing is applied that the log could not take.
bool Replica::MayApply() const { return parts_.persistence.write_error().ok(); }

void Replica::FollowStream() {
  if (!socket_.Flush()) {
    return Drop(absl::UnavailableError("the link to the primary is broken"), Next::kAtOnce);
  }
  if (!MayApply()) return;
  const int64_t begin_us = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  while (true) {
    const int64_t left_us = parts_.slice_us - (Clock::MonotonicMicros() - begin_us);
    more = stream_->Apply(std::max<int64_t>(left_us, 0));
    if (redis_ != nullptr) position_.Set(redis_->position());
    if (!more.ok() || *more || left_us <= 0) break;
    std::string_view bytes;
    if (!socket_.HasEvent() || !ReadSome(bytes)) break;
    stream_->Take(bytes);
  }
  if (stage_ != Stage::kStream) return;
  if (!more.ok()) {
    // After a command that has failed the data is that of no position.
    if (absl::IsAborted(more.status())) position_.Lose();
    return Drop(more.status(), Next::kGrowing);
  }
  more_to_apply_ = *more;
  ack_wanted_ |= stream_->TakeAckRequest();
}

void Replica::EndTurn() {
  if (std::exchange(ack_wanted_, false)) Acknowledge();
}

void Replica::Acknowledge() {
  if (socket_.state() != PeerSocket::State::kConnected) return;
  const uint64_t offset = stream_ != nullptr ? stream_->offset() : full_sync_.offset();
  const std::string text = StrCat(offset);
  std::string request;
  const std::string_view words[] = {"REPLCONF", "ACK", text};
  AppendRespCommand(request, words);
  socket_.Send(request);
  socket_.Flush();
  last_ack_ms_ = server_.clock.steady_ms();
}

}  // namespace tally::server
