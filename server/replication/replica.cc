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
#include "server/replication/stream_follower.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

constexpr size_t kStreamReadBytes = size_t{256} * 1024;
constexpr int64_t kSoonMs = 1000;
constexpr int64_t kAckMs = 1000;
// A link that was up for so long was a good one: its end begins a new series of pauses.
constexpr int64_t kGoodLinkMs = 60'000;
constexpr std::string_view kUnblocked =
    "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)";

}  // namespace

Replica::Replica(const Parts& parts)
    : parts_(parts),
      server_(parts.server),
      socket_(parts.poller, parts.dial),
      buffer_(kStreamReadBytes),
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
  hands_over_ = handover == Handover::kNo ? HandingOver::kNo : HandingOver::kYes;
  by_force_ = handover == Handover::kForced;
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
  server_.replicas->DisconnectAll(kNewHistory);
}

bool Replica::Disconnect() {
  if (socket_.state() == PeerSocket::State::kClosed) return false;
  Drop(absl::CancelledError("the link was closed by a command"), Next::kAtOnce);
  return true;
}

void Replica::RetryNow() {
  pause_ = {};
  next_try_ms_ = server_.clock.steady_ms();
}

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

void Replica::EndHandover(bool accepted) {
  const HandingOver handed = std::exchange(hands_over_, HandingOver::kNo);
  if (handed != HandingOver::kNo) server_.replicas->HandoverEnded(accepted);
}

// Whether the other, asked to take over, may be the primary though it has not said so: its answer
// is lost with the link. Then this server must not be one again, but asks until it is told: of two
// primaries one loses what it is given. A replica with another history tells nothing: it may have
// been the primary and have handed that on.
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
