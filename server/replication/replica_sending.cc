// What the replicas are sent, turn by turn, and the memory that this may take.
#include <algorithm>
#include <utility>

#include "core/bytes/str_cat.h"
#include "server/aof/log_format.h"
#include "server/config/config.h"
#include "server/interfaces/persistence.h"
#include "server/replication/replica_links.h"
#include "server/state/client_table.h"
#include "server/state/clock.h"

namespace tally::server {
namespace {

// What one turn puts into the outputs of all replicas together, and the most that the output of one
// holds.
constexpr size_t kTurnBytes = size_t{1} << 20;
constexpr size_t kOutputBytes = 128 * 1024;

}  // namespace

void ReplicaLinks::Receive(uint64_t, std::string_view effects) {
  size_t database = server_.effects.database_before();
  while (!effects.empty()) {
    const std::string_view some = FirstCommands(effects, kMaxFrameBytes);
    backlog_->Append(database, some);
    effects.remove_prefix(some.size());
  }
}

void ReplicaLinks::EndTurn() {
  has_more_ = false;
  if (!backlog_ || links_.empty()) {
    if (backlog_)
      backlog_->Trim(static_cast<uint64_t>(server_.config.repl_backlog_size), UINT64_MAX);
    return;
  }
  ServeWaiting();
  rdb_sender_.Serve();
  Pull();
  LimitMemory();
  if (failover_.state() != Failover::State::kWaiting) return;
  for (const auto& link : links_) {
    const bool has_all = link->online() && link->acknowledged() == server_.effects.offset();
    if (has_all && failover_.Targets(link->ip(), link->port())) {
      return failover_.TargetHasAll(link->ip(), link->port());
    }
  }
}

// The links take turns at being first, as one turn may not reach all of them.
void ReplicaLinks::Pull() {
  const int64_t now_ms = server_.clock.steady_ms();
  size_t left = kTurnBytes;
  const size_t count = links_.size();
  for (size_t i = 0; i < count; ++i) {
    ReplicaLink& link = *links_[(next_ + i) % count];
    Client& client = link.client();
    if (!link.started() || client.finished() || client.state.output.blocked()) continue;
    if (left == 0) {
      next_ = (next_ + i) % count;
      has_more_ = true;
      return;
    }
    const size_t held = client.output.size();
    const auto pulled = link.Pull(*backlog_, std::min(kOutputBytes, held + left), now_ms);
    const size_t more = client.output.size() - std::min(held, client.output.size());
    left -= std::min(left, more);
    if (more > 0) server_.clients.MarkPending(client);
    has_more_ |= pulled == ReplicaLink::Pulled::kSome;
    if (pulled == ReplicaLink::Pulled::kTooLate) OpenSource(link);
    if (pulled == ReplicaLink::Pulled::kRdbSent) {
      client.state.end.Finish();
      server_.clients.MarkPending(client);
    }
    if (pulled == ReplicaLink::Pulled::kBadFile) {
      Drop(link, StrCat("what it lacks cannot be read: ", link.error()));
    }
  }
}

void ReplicaLinks::OpenSource(ReplicaLink& link) {
  auto source = server_.persistence->OpenStream(link.next_frame());
  if (!source.ok()) {
    return Drop(link, StrCat("it is too far behind: ", std::string(source.status().message())));
  }
  link.set_source(std::move(*source));
  has_more_ = true;
}

// The logs have what memory may not keep for it.
void ReplicaLinks::ReadFromLog(ReplicaLink& link) {
  // One that waits for a base needs only what follows that.
  if (link.waits() && server_.config.appendonly) return;
  if (auto source = server_.persistence->OpenStream(link.next_frame()); source.ok()) {
    return link.set_source(std::move(*source));
  }
  Drop(link, StrCat("it lacks ", backlog_->end() - link.needs(),
                    " bytes of the stream (client-output-buffer-limit)"));
}

bool ReplicaLinks::IsOverLimit(ReplicaLink& link) const {
  const OutputBufferLimit& limit =
      server_.config.client_output_buffer_limit[static_cast<size_t>(ClientClass::kReplica)];
  // The backlog is kept anyway.
  const int64_t least = server_.config.repl_backlog_size;
  const auto lacks =
      static_cast<int64_t>(backlog_->end() - std::min(link.needs(), backlog_->end()));
  if (limit.hard != 0 && lacks > std::max(limit.hard, least)) return true;
  if (limit.soft == 0 || lacks <= std::max(limit.soft, least)) {
    link.over_soft_limit_since_ms = 0;
    return false;
  }
  const int64_t now_ms = server_.clock.steady_ms();
  if (link.over_soft_limit_since_ms == 0) link.over_soft_limit_since_ms = now_ms;
  return (now_ms - link.over_soft_limit_since_ms) / 1000 > limit.soft_seconds;
}

void ReplicaLinks::LimitMemory() {
  uint64_t needed = UINT64_MAX;
  for (const auto& link : links_) {
    if (!link->started() || link->client().finished() || link->reads_source()) continue;
    if (IsOverLimit(*link)) {
      ReadFromLog(*link);
      continue;
    }
    needed = std::min(needed, link->needs());
  }
  backlog_->Trim(static_cast<uint64_t>(server_.config.repl_backlog_size), needed);
}

void ReplicaLinks::Tick() {
  failover_.Tick();
  const bool asks = failover_.state() == Failover::State::kWaiting;
  if (asks) AskForAcknowledgements();
  const int64_t now_ms = server_.clock.steady_ms();
  for (const auto& link : links_) {
    if (link->started() && !link->client().finished()) KeepAlive(*link, now_ms);
  }
  StopBacklogIfUnused();
}

void ReplicaLinks::KeepAlive(ReplicaLink& link, int64_t now_ms) {
  const int64_t timeout_ms = server_.config.repl_timeout * 1000;
  const bool sending = link.stage() == ReplicaLink::Stage::kSending;
  if (link.online() && now_ms - link.acknowledged_ms() > timeout_ms) {
    return Drop(link, "it has acknowledged nothing for repl-timeout");
  }
  if (sending && now_ms - link.taken_ms() > timeout_ms) {
    return Drop(link, "it has taken nothing for repl-timeout");
  }
  const int64_t pause_ms = link.stage() == ReplicaLink::Stage::kWaiting
                               ? 1000
                               : server_.config.repl_ping_replica_period * 1000;
  if (now_ms - link.sent_ms() < pause_ms) return;
  link.SendKeepAlive(*backlog_, now_ms);
  server_.clients.MarkPending(link.client());
}

}  // namespace tally::server
