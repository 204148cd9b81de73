#include "server/replication/replica.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/bytes/str_cat.h"
#include "core/engine/engine.h"
#include "server/config/config.h"
#include "server/effects/effect_stream.h"
#include "server/effects/stream_id.h"
#include "server/interfaces/command_runner.h"
#include "server/log/log.h"
#include "server/net/tls/tls_context.h"
#include "server/replication/frame_follower.h"
#include "server/replication/stream_follower.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr size_t kReadBytes = size_t{256} * 1024;
constexpr size_t kMostLineBytes = 4096;
constexpr int64_t kSoonMs = 1000;
constexpr int64_t kAckMs = 1000;
// A link that was up for so long was a good one: its end begins a new series of pauses.
constexpr int64_t kGoodLinkMs = 60'000;
// They ask again, and are told the id.
constexpr std::string_view kNewId = "its history has a new id";
constexpr std::string_view kUnblocked =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";

}  // namespace

Replica::Replica(const Parts& parts)
    : parts_(parts),
      server_(parts.server),
      socket_(parts.poller, parts.dial),
      buffer_(kReadBytes),
      position_(server_),
      full_sync_({server_, parts.persistence, parts.files, position_, parts.new_id}) {
  parts_.persistence.set_notes(&position_);
  server_.primary.Fill(*this);
}

void Replica::Start() {
  full_sync_.Abandon();
  if (server_.config.replicaof_host.empty()) return;
  server_.role = {.is_replica = true};
  server_.engine.set_expiry(Expiry::kHide);
}

void Replica::Follow(const std::string& host, int64_t port, Handover handover) {
  Close();
  EndHandover(false);
  if (!is_replica()) {
    position_.Set({});
    std::vector<Client*> blocked;
    server_.clients.ForEach([&](Client& client) {
      if (client.blocked != nullptr) blocked.push_back(&client);
    });
    // Who waited for a primary is to look for the new one, so the connections end too.
    for (Client* client : blocked) {
      server_.runner->Unblock(*client, kUnblocked);
      client->state.end.Finish();
    }
  }
  server_.config.replicaof_host = host;
  server_.config.replicaof_port = port;
  server_.role = {.is_replica = true};
  server_.engine.set_expiry(Expiry::kHide);
  becomes_primary_ = false;
  hands_over_ = handover == Handover::kYes ? HandingOver::kYes : HandingOver::kNo;
  pause_ = {};
  last_error_.clear();
  down_since_ms_ = -1;
  next_try_ms_ = server_.clock.steady_ms();
  server_.log.Notice("Following ", host, ":", port, " as its replica");
}

void Replica::StopFollowing() {
  if (!is_replica()) return;
  // Half of the data is nobody's data.
  becomes_primary_ = stage_ == Stage::kLoading;
  hands_over_ = HandingOver::kNo;
  Close();
  server_.config.replicaof_host.clear();
  server_.config.replicaof_port = 0;
  if (becomes_primary_) return;
  server_.role = {};
  server_.engine.set_expiry(Expiry::kRemove);
  // What is written from now on is in no other stream.
  BeginOwnHistory();
  position_.Set({});
  server_.log.Notice("This server is a primary now");
}

// The stream of a tallyd is that of this server: nothing else may be written into it.
bool Replica::refuses_writes() const {
  const bool shares = stream_ != nullptr && redis_ == nullptr;
  return is_replica() && (server_.config.replica_read_only || shares);
}

void Replica::BeginOwnHistory() {
  StreamId& id = server_.stream_id;
  const bool has_one = id.id() != StreamId::None();
  has_one ? id.Shift(parts_.new_id(), server_.effects.offset()) : id.Adopt(parts_.new_id());
  server_.replicas->DisconnectAll(kNewId);
}

bool Replica::Disconnect() {
  if (socket_.state() == PrimarySocket::State::kClosed) return false;
  Drop(absl::CancelledError("the link was closed by a command"), Next::kAtOnce);
  return true;
}

void Replica::RetryNow() {
  pause_ = {};
  next_try_ms_ = server_.clock.steady_ms();
}

// Nothing is applied that the log could not take.
bool Replica::MayApply() const { return parts_.persistence.write_error().ok(); }

bool Replica::HasWork() const {
  if (stage_ == Stage::kStream && !MayApply()) return false;
  return stage_ == Stage::kChecking || more_to_apply_ || socket_.HasEvent();
}

void Replica::Tick() {
  if (!is_replica()) return;
  const int64_t now_ms = server_.clock.steady_ms();
  if (stage_ == Stage::kPause) {
    // The data of the start tells what is missing.
    if (!server_.loading && now_ms >= next_try_ms_) Connect();
    return;
  }
  if (stage_ == Stage::kConnecting) Serve();
  const bool acknowledges = stage_ >= Stage::kChecking;
  if (acknowledges && now_ms - last_ack_ms_ >= kAckMs) Acknowledge();
  const bool listens = stage_ < Stage::kChecking || (stage_ == Stage::kStream && MayApply());
  if (listens && now_ms - last_io_ms_ > server_.config.repl_timeout * 1000) {
    Drop(absl::DeadlineExceededError(
             StrCat("the primary has been silent for ", server_.config.repl_timeout, " s")),
         Next::kSoon);
  }
}

void Replica::Serve() {
  switch (stage_) {
    case Stage::kPause:
      return;
    case Stage::kConnecting: {
      const absl::Status status = socket_.Continue();
      if (!status.ok()) return Drop(status, Next::kSoon);
      if (socket_.state() == PrimarySocket::State::kConnected) BeginHandshake();
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
      server_.replicas->DisconnectAll(kNewId);
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
  const int64_t begin = Clock::MonotonicMicros();
  absl::StatusOr<bool> done = false;
  do {
    std::string_view bytes;
    if (received_.empty()) {
      if (!ReadSome(bytes)) return;
      received_ = bytes;
    }
    done = full_sync_.Receive(received_);
    if (!done.ok()) return Drop(done.status(), Next::kGrowing);
  } while (!*done && Clock::MonotonicMicros() - begin < parts_.slice_us);
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
  if (socket_.state() == PrimarySocket::State::kConnected) BeginStream();
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

void Replica::FollowStream() {
  if (!socket_.Flush()) {
    return Drop(absl::UnavailableError("the link to the primary is broken"), Next::kAtOnce);
  }
  if (!MayApply()) return;
  const int64_t begin = Clock::MonotonicMicros();
  absl::StatusOr<bool> more = true;
  while (true) {
    const int64_t left_us = parts_.slice_us - (Clock::MonotonicMicros() - begin);
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
  if (socket_.state() != PrimarySocket::State::kConnected) return;
  const uint64_t offset = stream_ != nullptr ? stream_->offset() : full_sync_.offset();
  const std::string text = StrCat(offset);
  std::string request;
  const std::string_view words[] = {"REPLCONF", "ACK", text};
  AppendRespCommand(request, words);
  socket_.Send(request);
  socket_.Flush();
  last_ack_ms_ = server_.clock.steady_ms();
}

void Replica::EndHandover(bool accepted) {
  const HandingOver handed = std::exchange(hands_over_, HandingOver::kNo);
  if (handed != HandingOver::kNo) server_.replicas->HandoverEnded(accepted);
}

// Whether the other, asked to take over, may be the primary though it has not said so: its answer
// is lost with the link. Then this server must not be one again, but asks until it is told: of two
// primaries one loses what it is given.
bool Replica::MayHaveTakenOver() const {
  if (hands_over_ == HandingOver::kUnanswered) return !(handshake_ && handshake_->is_refused());
  return hands_over_ == HandingOver::kYes && handshake_ && handshake_->is_unanswered();
}

void Replica::Close() {
  if (stage_ == Stage::kStream) down_since_ms_ = server_.clock.steady_ms();
  socket_.Close();
  received_.clear();
  handshake_.reset();
  if (stream_ != nullptr) skipped_ += stream_->skipped();
  stream_ = nullptr;
  redis_ = nullptr;
  more_to_apply_ = false;
  server_.role.link_up = false;
  // What replaces the data is loaded to its end, and then the link is made again.
  if (stage_ == Stage::kLoading) return;
  full_sync_.Abandon();
  stage_ = Stage::kPause;
}

void Replica::Drop(const absl::Status& why, Next next) {
  const int64_t now_ms = server_.clock.steady_ms();
  const bool was_up = stage_ == Stage::kStream;
  const bool may_have_taken_over = MayHaveTakenOver();
  if (was_up && now_ms - up_since_ms_ >= kGoodLinkMs) pause_.Succeeded();
  Close();
  if (down_since_ms_ < 0) down_since_ms_ = now_ms;
  next_try_ms_ = now_ms + (next == Next::kSoon ? kSoonMs : 0);
  if (next == Next::kGrowing) {
    pause_.Failed(now_ms);
    next_try_ms_ = pause_.next_ms();
  }
  // The same error is not reported again at each try.
  const std::string text(why.message());
  if (text != last_error_) {
    server_.log.Warning("The link to the primary ", server_.config.replicaof_host, ":",
                        server_.config.replicaof_port,
                        was_up ? " is lost: " : " is not made: ", text);
  }
  last_error_ = text;
  if (!may_have_taken_over) return EndHandover(false);
  if (std::exchange(hands_over_, HandingOver::kUnanswered) == HandingOver::kUnanswered) return;
  server_.log.Warning(
      "Failover: the answer was lost. It is asked again until it is known who the primary is, or "
      "told by REPLICAOF. FAILOVER ABORT makes this server one, which must not be done if the "
      "other is one");
}

PrimaryState Replica::state() const {
  const int64_t now_ms = server_.clock.steady_ms();
  PrimaryState state;
  state.host = server_.config.replicaof_host;
  state.port = server_.config.replicaof_port;
  using Link = PrimaryState::Link;
  constexpr std::array<Link, 7> kLinks = {Link::kConnect,  Link::kConnecting, Link::kHandshake,
                                          Link::kSync,     Link::kSync,       Link::kSync,
                                          Link::kConnected};
  state.link = kLinks[static_cast<size_t>(stage_)];
  const UpstreamPosition& upstream = position_.upstream();
  state.offset = upstream.known() ? upstream.offset : server_.effects.offset();
  state.read_offset = stream_ != nullptr ? stream_->read_offset() : state.offset;
  state.silent_ms = last_io_ms_ == 0 ? -1 : now_ms - last_io_ms_;
  state.down_ms = down_since_ms_ < 0 ? -1 : now_ms - down_since_ms_;
  if (state.link == Link::kSync) {
    state.sync_read = full_sync_.received();
    state.sync_total = full_sync_.total().value_or(0);
  }
  state.handover_unanswered = hands_over_ == HandingOver::kUnanswered;
  state.full_syncs = full_syncs_;
  state.partial_syncs = partial_syncs_;
  state.last_error = last_error_;
  state.skipped = skipped_ + (stream_ != nullptr ? stream_->skipped() : 0);
  return state;
}

}  // namespace tally::server
